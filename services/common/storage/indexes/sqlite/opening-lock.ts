/**
 * Held by the one thread that just opens, makes or removes a dataset's file. SQLite opens a file's log and its shared memory
 * by their names, and a moment later than the file itself: opened while another file of the name takes its place, they would
 * be those of the other, and cutting shared memory that a second connection of this process has in use ends the process.
 */
export type OpeningLock = Int32Array<SharedArrayBuffer>;

const FREE = 0;
const HELD = 1;
/** Opening takes milliseconds: a thread that holds on for so long died with the lock. */
const ABANDONED_MS = 30_000;

export function createOpeningLock(): OpeningLock {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Waits for its turn by blocking the thread. */
export function holding<Result>(lock: OpeningLock, work: () => Result): Result {
  while (Atomics.compareExchange(lock, 0, FREE, HELD) !== FREE) {
    if (Atomics.wait(lock, 0, HELD, ABANDONED_MS) === 'timed-out') break;
  }
  try {
    return work();
  } finally {
    Atomics.store(lock, 0, FREE);
    Atomics.notify(lock, 0, 1);
  }
}
