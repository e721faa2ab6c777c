/**
 * Keys that wait for work, as a set: a key that waits is not added twice, a key that is being worked on is given to nobody
 * else and comes again when it was added meanwhile.
 */
export interface WorkQueue {
  add(key: string): void;
  /** The earlier of several wins. */
  addAfter(key: string, delayMs: number): void;
  /** After the key's back-off, which doubles with each call until `forget`. */
  retry(key: string, atLeastMs?: number): void;
  forget(key: string): void;
  /** How often the key was retried since `forget`. */
  retriesOf(key: string): number;
  /** The next key, when there is one and the overall rate allows; null once the queue is stopped. Call `done` after. */
  next(): Promise<string | null>;
  done(key: string): void;
  /** Keys that wait now; timers not counted. */
  readonly depth: number;
  /** Nothing more is given out; resolves when all given keys are done. */
  stop(): Promise<void>;
}
