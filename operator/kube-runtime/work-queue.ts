import type { RuntimeClock } from './runtime-clock.ts';

/**
 * Keys to work on, as a set: a key that is queued is not queued twice; a key that is being worked on is given to no other
 * worker, and is queued again after `done` when it was added meanwhile. Keys are added now, later or after a back-off, and
 * are handed out one by one at a limited overall rate.
 */
interface WorkQueue {
  add(key: string): void;
  /** Adds the key after the delay; the earliest of several delays wins. */
  addAfter(key: string, delayMs: number): void;
  /** Adds the key after its back-off, which doubles with each call until `forget`. */
  retry(key: string, atLeastMs?: number): void;
  forget(key: string): void;
  /** Number of retries of the key since `forget`. */
  retriesOf(key: string): number;
  /** Resolves with the next key, as soon as there is one and the rate allows; null once the queue is stopped. Call `done` after. */
  next(): Promise<string | null>;
  done(key: string): void;
  /** Number of queued keys, without those that are delayed. */
  readonly depth: number;
  /** Hands out nothing more; resolves when all keys that were handed out are done. */
  stop(): Promise<void>;
}

interface BackoffRange {
  readonly first: number;
  readonly most: number;
}

interface TokenRate {
  readonly perSecond: number;
  /** Number of tokens that can be taken at once after a pause. */
  readonly burst: number;
}

export interface WorkQueueOptions {
  readonly clock: RuntimeClock;
  /** Back-off of a key: doubles from `first` up to `most`. Default: 5 ms up to 1000 s. */
  readonly backoffMs?: BackoffRange;
  /** Rate at which keys are handed out. Default: 50 per second with bursts of 100. */
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

function createKeySet() {
  const waiting = new Set<string>();
  const processing = new Set<string>();
  /** Keys that were added while they are being worked on. */
  const dirty = new Set<string>();
  return {
    add(key: string): void {
      if (processing.has(key)) dirty.add(key);
      else waiting.add(key);
    },
    /** Returns the key that has waited longest; undefined when none waits. */
    take(): string | undefined {
      const [key] = waiting;
      if (key === undefined) return undefined;
      waiting.delete(key);
      processing.add(key);
      return key;
    },
    done(key: string): void {
      processing.delete(key);
      if (dirty.delete(key)) waiting.add(key);
    },
    waiting: () => waiting.size > 0,
    busy: () => processing.size > 0,
    depth: () => waiting.size + dirty.size,
    clear(): void {
      waiting.clear();
      dirty.clear();
    },
  };
}

/** Delays each key once, until the earliest of the requested times, and then calls `onDue`. */
function createDelayedKeys(clock: RuntimeClock, onDue: (key: string) => void) {
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const cancel = (key: string): void => {
    timers.get(key)?.cancel();
    timers.delete(key);
  };
  return {
    add(key: string, delayMs: number): void {
      const at = clock.monotonicMs() + delayMs;
      const held = timers.get(key);
      if (held !== undefined && held.at <= at) return;
      held?.cancel();
      const fire = (): void => {
        timers.delete(key);
        onDue(key);
      };
      timers.set(key, { at, cancel: clock.after(delayMs, fire) });
    },
    cancel,
    clear(): void {
      for (const key of [...timers.keys()]) cancel(key);
    },
  };
}

/** Counts the retries of each key; the wait doubles with each of them. */
function createKeyBackoff({ first, most }: BackoffRange) {
  const counts = new Map<string, number>();
  const countOf = (key: string): number => counts.get(key) ?? 0;
  return {
    /** Counts one retry and returns its wait in milliseconds. */
    next(key: string): number {
      const count = countOf(key);
      counts.set(key, count + 1);
      return Math.min(most, first * 2 ** Math.min(count, 40));
    },
    countOf,
    forget: (key: string) => void counts.delete(key),
  };
}

function createTokenBucket(clock: RuntimeClock, rate: TokenRate) {
  let tokens = rate.burst;
  let filledAt = clock.monotonicMs();
  return {
    /** Takes a token and returns 0, or returns the milliseconds until there is one. */
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
