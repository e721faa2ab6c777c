import type { Bus } from '../../storage/ports/bus.ts';
import { createWakeUp } from '../async/wake-up.ts';

/** Lets a worker sleep between claims: until a job of its kinds is announced, or until the next poll. */
export interface WorkWatch {
  /** Resolves at once for news since the last wait, so a job added between a claim and the wait is not missed. */
  wait(signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export function wakeSubject(kind: string): string {
  return `engram.jobs.${kind}`;
}

/** No kind of job has this name. */
export const CANCEL_SUBJECT = wakeSubject('cancel');

export async function watchWork(bus: Bus, kinds: readonly string[], pollMs: number): Promise<WorkWatch> {
  const wakeUp = createWakeUp();
  const subscriptions = await Promise.all(kinds.map((kind) => bus.subscribe(wakeSubject(kind), wakeUp.notify)));
  return {
    wait: (signal) => wakeUp.wait(pollMs, signal),
    async stop() {
      wakeUp.notify();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}
