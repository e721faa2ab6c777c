import { emailKey } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { Clock } from '../../common/ports/system.ts';

/** Failures that are free in a row, and how fast they are forgiven. */
interface BucketLimit {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/**
 * Guessing one account from one place is stopped first; the wider limits stop a guess spread over many places or many
 * accounts and leave the owner of an attacked account room to sign in from elsewhere.
 */
const LIMITS = {
  pair: { capacity: 10, refillPerSecond: 1 / 10 },
  account: { capacity: 100, refillPerSecond: 1 / 5 },
  address: { capacity: 100, refillPerSecond: 1 },
} as const satisfies Record<string, BucketLimit>;

/** Limits failed logins, before any hash is computed. */
export interface LoginThrottle {
  /**
   * Takes one attempt, so that attempts at the same time cannot all pass. Throws `TooManyRequestsError` with the seconds to
   * wait when none is left.
   */
  enter(account: string, address: string): LoginAttempt;
}

/** Given back when it is disposed of, unless it failed: nothing was guessed then. */
export interface LoginAttempt extends Disposable {
  fail(): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

export function createLoginThrottle(clock: Clock, maxBuckets = 50_000): LoginThrottle {
  const buckets = new Map<string, Bucket>();
  const refilled = (key: string, limit: BucketLimit): Bucket => {
    const now = clock.monotonicMs();
    const bucket = buckets.get(key) ?? { tokens: limit.capacity, at: now };
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + ((now - bucket.at) / 1000) * limit.refillPerSecond);
    bucket.at = now;
    return bucket;
  };
  return {
    enter(account, address) {
      const user = emailKey(account);
      const taken = [
        { key: `pair ${user} ${address}`, limit: LIMITS.pair },
        { key: `account ${user}`, limit: LIMITS.account },
        { key: `address ${address}`, limit: LIMITS.address },
      ].map(({ key, limit }) => ({ key, limit, bucket: refilled(key, limit) }));
      const waits = taken.map(({ bucket, limit }) => (1 - bucket.tokens) / limit.refillPerSecond);
      const waitSeconds = Math.max(...waits);
      if (waitSeconds > 0) throw tooManyFailures(Math.ceil(waitSeconds));
      for (const { key, bucket } of taken) {
        bucket.tokens -= 1;
        // Put back at the end: the map's first entries are those unused for longest.
        buckets.delete(key);
        buckets.set(key, bucket);
      }
      trim(buckets, maxBuckets);
      let failed = false;
      return {
        fail() {
          failed = true;
        },
        [Symbol.dispose]() {
          if (failed) return;
          for (const { limit, bucket } of taken) bucket.tokens = Math.min(limit.capacity, bucket.tokens + 1);
        },
      };
    },
  };
}

function trim(buckets: Map<string, Bucket>, maxBuckets: number): void {
  for (const key of buckets.keys()) {
    if (buckets.size <= maxBuckets) return;
    buckets.delete(key);
  }
}

function tooManyFailures(retryAfterSeconds: number) {
  return engramError('TooManyRequestsError', `Too many failed logins. Try again in ${retryAfterSeconds} seconds.`, {
    retryable: true,
    retryAfterSeconds,
  });
}
