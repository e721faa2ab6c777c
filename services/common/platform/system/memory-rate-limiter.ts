import { keepNewest } from '../../kernel/recently-used.ts';
import type { MonotonicClock, RateLimiter } from '../../ports/system.ts';

interface MemoryRateLimiterOptions {
  readonly clock: MonotonicClock;
  /** Keys remembered at once; default 100 000. Beyond it the longest unused are forgotten (and start full again). */
  readonly maxKeys?: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** Token buckets in the memory of the process. A key that has refilled costs no memory: it is as good as unknown. */
export function createMemoryRateLimiter({ clock, maxKeys = 100_000 }: MemoryRateLimiterOptions): RateLimiter {
  // In order of last use: the first is the longest unused.
  const buckets = new Map<string, Bucket>();
  return {
    async take(key, { capacity, refillPerSecond }) {
      const nowMs = clock.monotonicMs();
      const bucket = buckets.get(key) ?? { tokens: capacity, atMs: nowMs };
      const refilled = Math.min(capacity, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * refillPerSecond);
      const allowed = refilled >= 1;
      const tokens = allowed ? refilled - 1 : refilled;
      keepNewest(buckets, maxKeys, key, { tokens, atMs: nowMs });
      return { allowed, retryAfterSeconds: allowed ? 0 : waitSeconds(1 - tokens, capacity, refillPerSecond) };
    },
  };
}

/** Whole seconds, at least one, as `Retry-After` wants them. A bucket that never refills is asked again in a day. */
function waitSeconds(missing: number, capacity: number, refillPerSecond: number): number {
  if (refillPerSecond <= 0 || capacity < 1) return 86_400;
  return Math.max(1, Math.ceil(missing / refillPerSecond));
}
