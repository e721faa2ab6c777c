import { createDelayedKeys } from './delayed-keys.ts';
import { type BackoffRange, createKeyBackoff } from './key-backoff.ts';
import { createKeySet } from './key-set.ts';
import type { RuntimeClock } from './runtime-clock.ts';
import { createTokenBucket, type TokenRate } from './token-bucket.ts';

/** Keys that wait for work, as a `KeySet`: now, later, or after a back-off; given out one by one, at an overall rate. */
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

export interface WorkQueueOptions {
  readonly clock: RuntimeClock;
  /** Back-off of a key: doubles from the first to the most. Default 5 ms … 1000 s. */
  readonly backoffMs?: BackoffRange;
  /** Keys given out over all. Default 50 a second, and 100 at once. */
  readonly rate?: TokenRate;
  readonly onAdd?: () => void;
  readonly onRetry?: () => void;
}

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, backoffMs = { first: 5, most: 1_000_000 }, rate = { perSecond: 50, burst: 100 } } = options;
  const keys = createKeySet();
  const takers: ((key: string | null) => void)[] = [];
  const bucket = createTokenBucket(clock, rate);
  const delayed = createDelayedKeys(clock, add);
  const backoff = createKeyBackoff(backoffMs);
  let cancelPump: (() => void) | undefined;
  let isStopped = false;
  const drained = Promise.withResolvers<void>();

  function pump(): void {
    while (takers.length > 0 && keys.waiting()) {
      const delayMs = bucket.take();
      if (delayMs > 0) {
        cancelPump ??= clock.after(delayMs, () => {
          cancelPump = undefined;
          pump();
        });
        return;
      }
      takers.shift()?.(keys.take() ?? null);
    }
  }

  function add(key: string): void {
    if (isStopped) return;
    delayed.cancel(key);
    options.onAdd?.();
    keys.add(key);
    pump();
  }

  function addAfter(key: string, delayMs: number): void {
    if (isStopped) return;
    if (delayMs <= 0) add(key);
    else delayed.add(key, delayMs);
  }

  return {
    add,
    addAfter,
    retry(key, atLeastMs = 0) {
      const waitMs = backoff.next(key);
      options.onRetry?.();
      addAfter(key, Math.max(atLeastMs, waitMs));
    },
    forget: backoff.forget,
    retriesOf: backoff.countOf,
    next() {
      if (isStopped) return Promise.resolve(null);
      return new Promise((resolve) => {
        takers.push(resolve);
        pump();
      });
    },
    done(key) {
      keys.done(key);
      if (isStopped && !keys.busy()) drained.resolve();
      pump();
    },
    get depth() {
      return keys.depth();
    },
    stop() {
      if (isStopped) return drained.promise;
      isStopped = true;
      delayed.clear();
      cancelPump?.();
      keys.clear();
      for (const taker of takers.splice(0)) taker(null);
      if (!keys.busy()) drained.resolve();
      return drained.promise;
    },
  };
}
