import type { Clock } from '../../services/common/ports/system.ts';

/**
 * What this process has found to be so lately, by the uid of the resource: a look at the figures each minute must not ask
 * everything else each minute too. Only what went well is remembered; a restart forgets, and looks at everything again.
 */
export interface CheckMemory {
  /** Found so for the same `state` (generation, contents) within the age. */
  holds(uid: string, state: string): boolean;
  remember(uid: string, state: string): void;
  forget(uid: string): void;
}

export function createCheckMemory(clock: Pick<Clock, 'monotonicMs'>, maxAgeMs: number): CheckMemory {
  const held = new Map<string, { readonly state: string; readonly at: number }>();
  return {
    holds(uid, state) {
      const check = held.get(uid);
      return check?.state === state && clock.monotonicMs() - check.at < maxAgeMs;
    },
    remember: (uid, state) => void held.set(uid, { state, at: clock.monotonicMs() }),
    forget: (uid) => void held.delete(uid),
  };
}
