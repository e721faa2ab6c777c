import { setTimeout as sleep } from 'node:timers/promises';
import { emailKey } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { networkOf } from '../../common/kernel/network-address.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { LoginFailureCounts } from '../repositories/login-failures.ts';

/** Failures that are allowed in a row, and how fast they are forgiven. */
interface BucketLimit {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/**
 * The narrowest limit stops guesses at one account from one address; the wider ones stop guesses that are spread over many
 * addresses or accounts, and let the owner of an attacked account log in from elsewhere. An address may be that of a whole
 * office: its limit does not apply to accounts that have logged in from it before, and others wait for their turn for a
 * while.
 */
const LIMITS = {
  pair: { capacity: 10, refillPerSecond: 1 / 10 },
  account: { capacity: 100, refillPerSecond: 1 / 5 },
  address: { capacity: 100, refillPerSecond: 1 },
} as const satisfies Record<string, BucketLimit>;

/** How long an attempt waits for an address that has no failures left, and how many wait at the same time. */
const TURN_TIMEOUT_MS = 5_000;
const MOST_WAITING = 5;

/**
 * Limits failed logins, before any hash is computed. Failures are counted in the store, so the limits hold across replicas
 * and restarts. Attempts in flight are counted per replica: n replicas that are asked at the same moment may each admit one
 * capacity. These failures count, so the wait after them is as much longer.
 */
export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

/** An attempt in flight; disposal returns it unless it failed. */
export interface LoginAttempt extends Disposable {
  /** When this resolves, all replicas know of the failure. */
  fail(): Promise<void>;
  /** The password was right: this process knows the address as one of the account from now on. */
  succeed(): void;
}

/** The least recently used ones are dropped beyond it; the store still counts them. */
const MAX_BUCKETS = 50_000;

interface LoginThrottleOptions {
  readonly failures: LoginFailureCounts;
  readonly clock: Clock;
  /** Longest wait for a turn; default 5 s. */
  readonly turnTimeoutMs?: number;
}

interface Bucket {
  /** Attempts left as far as this process knows, without those in flight. */
  tokens: number;
  /** Attempts in flight. */
  pending: number;
  /** Monotonic milliseconds. */
  at: number;
}

interface Taken {
  readonly id: string;
  readonly limit: BucketLimit;
  readonly bucket: Bucket;
}

export function createLoginThrottle({ failures, clock, turnTimeoutMs = TURN_TIMEOUT_MS }: LoginThrottleOptions) {
  /** Pairs of account and address with a successful login. */
  const known = new Set<string>();
  /** Waiting attempts per address. */
  const waiting = new Map<string, number>();
  const admit = createAdmission(failures, clock);

  /** Admits like `admit`, but waits while only the limit of the address is exceeded. */
  const admitAfterWait = async (counted: readonly Counted[], address: string): Promise<readonly Taken[]> => {
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
    /**
     * Takes one attempt, so that concurrent attempts cannot all pass. Throws `TooManyRequestsError` with the seconds to wait
     * when none is left.
     */
    async enter(account: string, address: string) {
      const { pair, owner, network } = countedFor(account, address);
      const taken = known.has(pair.id)
        ? await admit([pair, owner])
        : await admitAfterWait([pair, owner, network], network.id);
      let failed = false;
      return {
        succeed() {
          known.delete(pair.id);
          known.add(pair.id);
          trim(known, MAX_BUCKETS);
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
    /** Deletes counts that are forgiven; to be called periodically. */
    sweep: () => failures.sweep(clock.now().getTime()),
  };
}

/** Counts attempts: those of this process, and those that the store knows of all replicas. */
function createAdmission(failures: LoginFailureCounts, clock: Clock) {
  const buckets = new Map<string, Bucket>();
  const refilled = (id: string, limit: BucketLimit): Bucket => {
    const now = clock.monotonicMs();
    const bucket = buckets.get(id) ?? { tokens: limit.capacity, pending: 0, at: now };
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + ((now - bucket.at) / 1000) * limit.refillPerSecond);
    bucket.at = now;
    return bucket;
  };

  /** Takes an attempt by local counts alone: a flood is refused without asking the store. */
  const take = (counted: readonly Counted[]): readonly Taken[] => {
    const taken = counted.map(({ id, limit }) => ({ id, limit, bucket: refilled(id, limit) }));
    refuseWhenEmpty(taken, ({ bucket, limit }) => (1 - bucket.tokens) / limit.refillPerSecond);
    for (const { id, bucket } of taken) {
      bucket.tokens -= 1;
      bucket.pending += 1;
      // Inserted again at the end: the first entries of the map are the least recently used.
      buckets.delete(id);
      buckets.set(id, bucket);
    }
    trim(buckets, MAX_BUCKETS);
    return taken;
  };

  /** Lowers the local counts to those of all replicas. A refused attempt is returned at once, for others that wait for it. */
  const applyStoredCounts = async (taken: readonly Taken[]): Promise<void> => {
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

  /** Takes an attempt from each counter, or throws. */
  return async (counted: readonly Counted[]): Promise<readonly Taken[]> => {
    const taken = take(counted);
    await applyStoredCounts(taken);
    return taken;
  };
}

interface Counted {
  readonly id: string;
  readonly limit: BucketLimit;
}

/** The counters of an attempt. Their ids are digests, so no e-mail or IP addresses are stored for it. */
function countedFor(account: string, address: string): Record<'pair' | 'owner' | 'network', Counted> {
  const user = emailKey(account);
  const network = networkOf(address);
  return {
    pair: { id: sha256(`pair ${user} ${network}`), limit: LIMITS.pair },
    owner: { id: sha256(`account ${user}`), limit: LIMITS.account },
    network: { id: sha256(`address ${network}`), limit: LIMITS.address },
  };
}

function giveBack(taken: readonly Taken[]): void {
  for (const { limit, bucket } of taken) {
    bucket.pending -= 1;
    bucket.tokens = Math.min(limit.capacity, bucket.tokens + 1);
  }
}

function trim(recent: { keys(): Iterable<string>; delete(key: string): unknown; readonly size: number }, most: number) {
  for (const key of recent.keys()) {
    if (recent.size <= most) return;
    recent.delete(key);
  }
}

/** Only the limit of the address is exceeded. */
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
  // The tokens are a sum of fractions: less than a millionth is a rounding error.
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
