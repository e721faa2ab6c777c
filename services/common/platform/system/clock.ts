import type { Clock } from '../../ports/system.ts';

export function createSystemClock(): Clock {
  return { now: () => new Date(), monotonicMs: () => performance.now() };
}
