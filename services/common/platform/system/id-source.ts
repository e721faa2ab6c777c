import { randomUUID } from 'node:crypto';
import type { IdSource, WallClock } from '../../ports/system.ts';

/** Random bits below the time stamp: 12 in front that count within a millisecond, 62 behind. */
const COUNTER_LIMIT = 0x1000;
/** A fresh millisecond starts in the lower half, so that it has room to count. */
const COUNTER_START = 0x800;

/**
 * Ids of a process. `ordered()` is a UUID version 7 (RFC 9562 §5.7, method 1 of §6.2): each one of this source sorts
 * after the one before, also when the clock stands or goes back.
 */
export function createIdSource(clock: WallClock = { now: () => new Date() }): IdSource {
  let lastMs = 0;
  let counter = 0;
  return {
    uuid: randomUUID,
    ordered() {
      const nowMs = clock.now().getTime();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        counter = Number.parseInt(randomUUID().slice(0, 4), 16) % COUNTER_START;
      } else {
        counter += 1;
        if (counter === COUNTER_LIMIT) {
          lastMs += 1; // a little ahead of the clock instead of out of order
          counter = 0;
        }
      }
      return version7(lastMs, counter);
    },
  };
}

/** The last two groups of a random UUID hold the variant bits and 62 random ones, in their places already. */
function version7(timeMs: number, counter: number): string {
  const time = timeMs.toString(16).padStart(12, '0');
  const count = counter.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}${randomUUID().slice(18)}`;
}
