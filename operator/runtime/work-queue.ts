import type { RuntimeClock } from './runtime-clock.ts';

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

export interface WorkQueueOptions {
  readonly clock: RuntimeClock;
  /** Back-off of a key: doubles from the first to the most. Default 5 ms … 1000 s. */
  readonly backoffMs?: { readonly first: number; readonly most: number };
  /** Keys given out per second over all, and at once after a pause. Default 50 and 100. */
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly onAdd?: () => void;
  readonly onRetry?: () => void;
}

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, backoffMs = { first: 5, most: 1_000_000 }, rate = { perSecond: 50, burst: 100 } } = options;
  /** Waiting keys in order, those being worked on, and those of them that were added meanwhile. */
  const waiting = new Set<string>();
  const processing = new Set<string>();
  const dirty = new Set<string>();
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const retries = new Map<string, number>();
  const takers: ((key: string | null) => void)[] = [];
  const bucket = createBucket(clock, rate);
  let cancelPump: (() => void) | undefined;
  let stopped: { readonly drained: () => void; readonly promise: Promise<void> } | undefined;

  function pump(): void {
    while (takers.length > 0 && waiting.size > 0) {
      const delayMs = bucket.take();
      if (delayMs > 0) {
        cancelPump ??= clock.after(delayMs, () => {
          cancelPump = undefined;
          pump();
        });
        return;
      }
      const [key] = waiting;
      const taker = takers.shift();
      if (key === undefined || taker === undefined) return;
      waiting.delete(key);
      processing.add(key);
      taker(key);
    }
  }

  function add(key: string): void {
    if (stopped !== undefined) return;
    cancelTimer(key);
    options.onAdd?.();
    if (processing.has(key)) dirty.add(key);
    else waiting.add(key);
    pump();
  }

  function cancelTimer(key: string): void {
    timers.get(key)?.cancel();
    timers.delete(key);
  }

  function addAfter(key: string, delayMs: number): void {
    if (stopped !== undefined) return;
    if (delayMs <= 0) {
      add(key);
      return;
    }
    const at = clock.monotonicMs() + delayMs;
    const held = timers.get(key);
    if (held !== undefined && held.at <= at) return;
    held?.cancel();
    timers.set(key, { at, cancel: clock.after(delayMs, () => add(key)) });
  }

  return {
    add,
    addAfter,
    retry(key, atLeastMs = 0) {
      const count = retries.get(key) ?? 0;
      retries.set(key, count + 1);
      options.onRetry?.();
      addAfter(key, Math.max(atLeastMs, Math.min(backoffMs.most, backoffMs.first * 2 ** Math.min(count, 40))));
    },
    forget: (key) => void retries.delete(key),
    retriesOf: (key) => retries.get(key) ?? 0,
    next() {
      if (stopped !== undefined) return Promise.resolve(null);
      return new Promise((resolve) => {
        takers.push(resolve);
        pump();
      });
    },
    done(key) {
      processing.delete(key);
      if (dirty.delete(key) && stopped === undefined) waiting.add(key);
      if (stopped !== undefined && processing.size === 0) stopped.drained();
      pump();
    },
    get depth() {
      return waiting.size + dirty.size;
    },
    stop() {
      if (stopped === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        stopped = { promise, drained: resolve };
        for (const key of [...timers.keys()]) cancelTimer(key);
        cancelPump?.();
        waiting.clear();
        for (const taker of takers.splice(0)) taker(null);
        if (processing.size === 0) resolve();
      }
      return stopped.promise;
    },
  };
}

/** A token bucket; `take` answers 0 and takes a token, or answers how long to wait for one. */
function createBucket(clock: RuntimeClock, rate: { readonly perSecond: number; readonly burst: number }) {
  let tokens = rate.burst;
  let filledAt = clock.monotonicMs();
  return {
    take(): number {
      const now = clock.monotonicMs();
      tokens = Math.min(rate.burst, tokens + ((now - filledAt) / 1000) * rate.perSecond);
      filledAt = now;
      if (tokens < 1) return Math.ceil(((1 - tokens) / rate.perSecond) * 1000);
      tokens -= 1;
      return 0;
    },
  };
}
