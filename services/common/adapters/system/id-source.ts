import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock, IdSource } from '../../ports/system.ts';

/** Random bits below the time stamp: 12 in front that count within a millisecond, 62 behind. */
const COUNTER_LIMIT = 0x1000;
/** A fresh millisecond starts in the lower half, so that it has room to count. */
const COUNTER_START = 0x800;

/**
 * Ids of a process. `ordered()` is a UUID version 7 (RFC 9562 §5.7, method 1 of §6.2): each one of this source sorts
 * after the one before, also when the clock stands or goes back.
 */
export function createIdSource(clock: Pick<Clock, 'now'> = { now: () => new Date() }): IdSource {
  let lastMs = 0;
  let counter = 0;
  return {
    uuid: randomUUID,
    ordered() {
      const nowMs = clock.now().getTime();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        counter = randomBytes(2).readUInt16BE() % COUNTER_START;
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

function version7(timeMs: number, counter: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(timeMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
