import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RuntimeClock } from '../../../operator/kube-runtime/runtime-clock.ts';

export interface FakeClock extends RuntimeClock {
  /** Advances the time: runs due timers in order, with turns of the event loop between. */
  advance(ms: number): Promise<void>;
  /** Number of pending timers. */
  readonly pending: number;
}

/** Creates a clock that only `advance` moves. */
export function createFakeClock(): FakeClock {
  const start = new Date('2026-08-01T00:00:00Z');
  let nowMs = 0;
  let serial = 0;
  const timers = new Map<number, { readonly at: number; readonly action: () => void }>();
  const nextDue = (limit: number) =>
    [...timers].filter(([, { at }]) => at <= limit).sort(([one, a], [other, b]) => a.at - b.at || one - other)[0];
  return {
    now: () => new Date(start.getTime() + nowMs),
    monotonicMs: () => nowMs,
    after(delayMs, action) {
      serial += 1;
      const id = serial;
      timers.set(id, { at: nowMs + Math.max(0, delayMs), action });
      return () => void timers.delete(id);
    },
    async advance(ms) {
      const end = nowMs + ms;
      await turns();
      for (let due = nextDue(end); due !== undefined; due = nextDue(end)) {
        const [id, { at, action }] = due;
        timers.delete(id);
        nowMs = Math.max(nowMs, at);
        action();
        await turns();
      }
      nowMs = end;
      await turns();
    },
    get pending() {
      return timers.size;
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}
