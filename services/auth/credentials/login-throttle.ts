import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { emailKey } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { networkOf } from '../../common/kernel/network-address.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { LoginFailureCounts } from '../repositories/login-failures.ts';

/** Failures that are free in a row, and how fast they are forgiven. */
interface BucketLimit {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/**
 * Guessing one account from one place is stopped first; the wider limits stop a guess spread over many places or many
 * accounts and leave the owner of an attacked account room to sign in from elsewhere. An address may be that of a whole
 * office: its limit does not hold for who has signed in from there before, and others wait their turn for a while.
 */
const LIMITS = {
  pair: { capacity: 10, refillPerSecond: 1 / 10 },
  account: { capacity: 100, refillPerSecond: 1 / 5 },
  address: { capacity: 100, refillPerSecond: 1 },
} as const satisfies Record<string, BucketLimit>;

/** How long an attempt waits for an address that has no failures left, and how many do so at a time. */
const TURN_TIMEOUT_MS = 5_000;
const MOST_WAITING = 5;

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
  /** The password was right: the address is a known one of the account, as far as this process remembers. */
  succeed(): void;
}

export interface LoginThrottleOptions {
  readonly failures: LoginFailureCounts;
  readonly clock: Clock;
  /** Least recently used ones are forgotten here; the store still counts them. */
  readonly maxBuckets?: number;
  /** Default 5 s; what is due sooner is waited for. */
  readonly turnTimeoutMs?: number;
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

export function createLoginThrottle({
  failures,
  clock,
  maxBuckets = 50_000,
  turnTimeoutMs = TURN_TIMEOUT_MS,
}: LoginThrottleOptions): LoginThrottle {
  const buckets = new Map<string, Bucket>();
  /** Pairs of account and address that signed in. */
  const known = new Set<string>();
  /** How many wait for each address. */
  const waiting = new Map<string, number>();
  const refilled = (id: string, limit: BucketLimit): Bucket => {
    const now = clock.monotonicMs();
    const bucket = buckets.get(id) ?? { tokens: limit.capacity, pending: 0, at: now };
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + ((now - bucket.at) / 1000) * limit.refillPerSecond);
    bucket.at = now;
    return bucket;
  };

  /** By what this process knows alone: a flood is turned away without asking the store. */
  const take = (counted: readonly Counted[]): readonly Taken[] => {
    const taken = counted.map(({ id, limit }) => ({ id, limit, bucket: refilled(id, limit) }));
    refuseWhenEmpty(taken, ({ bucket, limit }) => (1 - bucket.tokens) / limit.refillPerSecond);
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
      refuseWhenEmpty(taken, ({ bucket, limit }) => -bucket.tokens / limit.refillPerSecond);
    } catch (error) {
      giveBack(taken);
      throw error;
    }
  };

  const admit = async (counted: readonly Counted[]): Promise<readonly Taken[]> => {
    const taken = take(counted);
    await learn(taken);
    return taken;
  };

  /** As `admit`, after waiting for the address where that alone stands in the way. */
  const admitInTurn = async (counted: readonly Counted[], address: string): Promise<readonly Taken[]> => {
    const deadline = performance.now() + turnTimeoutMs;
    for (;;) {
      try {
        return await admit(counted);
      } catch (error) {
        const others = waiting.get(address) ?? 0;
        const isDue = error instanceof AddressBusy && performance.now() + error.waitMs <= deadline;
        if (!isDue || others >= MOST_WAITING) throw error instanceof AddressBusy ? error.refusal : error;
        waiting.set(address, others + 1);
        await sleep(error.waitMs);
        const left = (waiting.get(address) ?? 1) - 1;
        if (left > 0) waiting.set(address, left);
        else waiting.delete(address);
      }
    }
  };

  return {
    async enter(account, address) {
      const { pair, owner, network } = countedFor(account, address);
      const taken = known.has(pair.id)
        ? await admit([pair, owner])
        : await admitInTurn([pair, owner, network], network.id);
      let failed = false;
      return {
        succeed() {
          known.delete(pair.id);
          known.add(pair.id);
          trim(known, maxBuckets);
        },
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

interface Counted {
  readonly id: string;
  readonly limit: BucketLimit;
}

/** What an attempt counts for. Digests: no address of a person lies around for it. */
function countedFor(account: string, address: string): Record<'pair' | 'owner' | 'network', Counted> {
  const user = emailKey(account);
  const network = networkOf(address);
  return {
    pair: { id: hash('sha256', `pair ${user} ${network}`), limit: LIMITS.pair },
    owner: { id: hash('sha256', `account ${user}`), limit: LIMITS.account },
    network: { id: hash('sha256', `address ${network}`), limit: LIMITS.address },
  };
}

function giveBack(taken: readonly Taken[]): void {
  for (const { limit, bucket } of taken) {
    bucket.pending -= 1;
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + 1);
  }
}

function trim(
  recent: { keys(): Iterable<string>; delete(key: string): unknown; readonly size: number },
  most: number,
): void {
  for (const key of recent.keys()) {
    if (recent.size <= most) return;
    recent.delete(key);
  }
}

/** The address alone has no failures left. */
class AddressBusy extends Error {
  override readonly name = 'AddressBusy';
  readonly waitMs: number;
  readonly refusal: Error;

  constructor(waitMs: number, refusal: Error) {
    super(refusal.message);
    this.waitMs = waitMs;
    this.refusal = refusal;
  }
}

function refuseWhenEmpty(taken: readonly Taken[], waitOf: (one: Taken) => number): void {
  // What is left is a sum of fractions; a billionth is no attempt.
  const empty = taken.map((one) => ({ limit: one.limit, wait: waitOf(one) })).filter(({ wait }) => wait > 1e-6);
  if (empty.length === 0) return;
  const waitSeconds = empty.reduce((longest, { wait }) => Math.max(longest, wait), 0);
  const retryAfterSeconds = Math.ceil(waitSeconds - 1e-6);
  const refusal = engramError(
    'TooManyRequestsError',
    `Too many failed logins. Try again in ${retryAfterSeconds} seconds.`,
    { retryable: true, retryAfterSeconds },
  );
  if (empty.every(({ limit }) => limit === LIMITS.address)) throw new AddressBusy(waitSeconds * 1000, refusal);
  throw refusal;
}
