import type { Clock } from '../../services/common/ports/system.ts';

/**
 * What this process has found to be so lately, by the uid of the resource: a look at the figures each minute must not ask
 * everything else each minute too. Only what went well is remembered; a restart forgets, and looks at everything again.
 */
export interface CheckMemory {
  /** Found so for the same `state` (generation, contents) within the age. */
  holds(uid: string, state: string): boolean;
  /** For another time than usual where `ageMs` says so. */
  remember(uid: string, state: string, ageMs?: number): void;
  forget(uid: string): void;
}

export function createCheckMemory(clock: Pick<Clock, 'monotonicMs'>, maxAgeMs: number): CheckMemory {
  const held = new Map<string, { readonly state: string; readonly until: number }>();
  return {
    holds(uid, state) {
      const check = held.get(uid);
      return check?.state === state && clock.monotonicMs() < check.until;
    },
    remember: (uid, state, ageMs = maxAgeMs) => void held.set(uid, { state, until: clock.monotonicMs() + ageMs }),
    forget: (uid) => void held.delete(uid),
  };
}
