import { hash } from 'node:crypto';
import { emailKey } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/domain/errors.ts';
import { networkOf } from '../../common/domain/network-address.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { LoginFailureCounts } from '../../common/repositories/login-failures.ts';

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

/**
 * Limits failed logins, before any hash is computed. Failures are counted in the store, so the limits hold across replicas
 * and restarts; what a replica has under way it counts itself, so of n replicas that are asked at the very same time each
 * may let one capacity through. All of it is owed: the wait after it is as much longer.
 */
export interface LoginThrottle {
  /**
   * Takes one attempt, so that attempts at the same time cannot all pass. Throws `TooManyRequestsError` with the seconds to
   * wait when none is left.
   */
  enter(account: string, address: string): Promise<LoginAttempt>;
  /** Forgets what is forgiven; to be called now and then. */
  sweep(): Promise<void>;
}

/** Given back when it is disposed of, unless it failed: nothing was guessed then. */
export interface LoginAttempt extends Disposable {
  /** Once this is over, all replicas know. */
  fail(): Promise<void>;
}

export interface LoginThrottleOptions {
  readonly failures: LoginFailureCounts;
  readonly clock: Clock;
  /** Least recently used ones are forgotten here; the store still counts them. */
  readonly maxBuckets?: number;
}

interface Bucket {
  /** Attempts left as far as this process knows; those under way are taken off. */
  tokens: number;
  /** Attempts under way. */
  pending: number;
  /** Monotonic milliseconds. */
  at: number;
}

interface Taken {
  readonly id: string;
  readonly limit: BucketLimit;
  readonly bucket: Bucket;
}

export function createLoginThrottle({ failures, clock, maxBuckets = 50_000 }: LoginThrottleOptions): LoginThrottle {
  const buckets = new Map<string, Bucket>();
  const refilled = (id: string, limit: BucketLimit): Bucket => {
    const now = clock.monotonicMs();
    const bucket = buckets.get(id) ?? { tokens: limit.capacity, pending: 0, at: now };
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + ((now - bucket.at) / 1000) * limit.refillPerSecond);
    bucket.at = now;
    return bucket;
  };

  /** By what this process knows alone: a flood is turned away without asking the store. */
  const take = (counted: readonly { readonly id: string; readonly limit: BucketLimit }[]): readonly Taken[] => {
    const taken = counted.map(({ id, limit }) => ({ id, limit, bucket: refilled(id, limit) }));
    refuseWhenEmpty(taken.map(({ bucket, limit }) => (1 - bucket.tokens) / limit.refillPerSecond));
    for (const { id, bucket } of taken) {
      bucket.tokens -= 1;
      bucket.pending += 1;
      // Put back at the end: the map's first entries are those unused for longest.
      buckets.delete(id);
      buckets.set(id, bucket);
    }
    trim(buckets, maxBuckets);
    return taken;
  };

  /** Lowers what is left here to what all replicas have left. What fails is given back at once: others wait for it. */
  const learn = async (taken: readonly Taken[]): Promise<void> => {
    try {
      const forgivenAt = await failures.read(taken.map(({ id }) => id));
      const now = clock.now().getTime();
      for (const { id, limit, bucket } of taken) {
        const owedSeconds = Math.max(0, (forgivenAt.get(id) ?? now) - now) / 1000;
        const left = limit.capacity - owedSeconds * limit.refillPerSecond - bucket.pending;
        bucket.tokens = Math.min(bucket.tokens, left);
      }
      refuseWhenEmpty(taken.map(({ bucket, limit }) => -bucket.tokens / limit.refillPerSecond));
    } catch (error) {
      giveBack(taken);
      throw error;
    }
  };

  return {
    async enter(account, address) {
      const taken = take(countedFor(account, address));
      await learn(taken);
      let failed = false;
      return {
        async fail() {
          const counted = taken.map(({ id, limit }) => ({ id, forgivenAfterMs: 1000 / limit.refillPerSecond }));
          await failures.add(counted, clock.now().getTime());
          failed = true;
          for (const { bucket } of taken) bucket.pending -= 1;
        },
        [Symbol.dispose]() {
          if (!failed) giveBack(taken);
        },
      };
    },
    sweep: () => failures.sweep(clock.now().getTime()),
  };
}

/** What an attempt counts for. Digests: no address of a person lies around for it. */
function countedFor(account: string, address: string) {
  const user = emailKey(account);
  const network = networkOf(address);
  return [
    { id: hash('sha256', `pair ${user} ${network}`), limit: LIMITS.pair },
    { id: hash('sha256', `account ${user}`), limit: LIMITS.account },
    { id: hash('sha256', `address ${network}`), limit: LIMITS.address },
  ];
}

function giveBack(taken: readonly Taken[]): void {
  for (const { limit, bucket } of taken) {
    bucket.pending -= 1;
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + 1);
  }
}

function trim(buckets: Map<string, Bucket>, maxBuckets: number): void {
  for (const key of buckets.keys()) {
    if (buckets.size <= maxBuckets) return;
    buckets.delete(key);
  }
}

function refuseWhenEmpty(waitsSeconds: readonly number[]): void {
  const waitSeconds = Math.max(...waitsSeconds);
  // What is left is a sum of fractions; a billionth is no attempt.
  if (waitSeconds <= 1e-6) return;
  const retryAfterSeconds = Math.ceil(waitSeconds - 1e-6);
  throw engramError('TooManyRequestsError', `Too many failed logins. Try again in ${retryAfterSeconds} seconds.`, {
    retryable: true,
    retryAfterSeconds,
  });
}
