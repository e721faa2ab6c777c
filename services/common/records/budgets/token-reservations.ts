import {
  type BudgetAccount,
  type BudgetKind,
  type LimitsInForce,
  overBudget,
  type Payer,
  windowOf,
} from '../../domain/budget.ts';
import { engramError } from '../../kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { createKeyedBatches, type KeyedTask } from '../../platform/async/keyed-batches.ts';
import { pause } from '../../platform/async/pause.ts';
import { ignoreConflict } from '../../platform/async/retry-on-conflict.ts';
import type { BudgetMetrics, Budgets } from '../../ports/budgets.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TokenUsage } from '../../ports/models.ts';
import type { Clock, UuidSource } from '../../ports/system.ts';
import {
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
  VersionConflictError,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { BudgetAlerts } from './budget-alerts.ts';
import type { Posting } from './budget-postings.ts';
import type { KnownLimits } from './known-limits.ts';
import { countWrite, type Usage, type UsageDocument, usageCollection, usageId } from './usage.ts';

/** Tokens that a call under way has set aside in some counters. */
type ReservationDocument = {
  readonly tokens: number;
  readonly counters: readonly string[];
  /** Renewed while the process lives: what a dead one set aside is given back after it. */
  readonly expiresAtMs: number;
};

export const tokenReservationsCollection: OwnedCollection<ReservationDocument> = {
  name: 'token_reservations',
  level: 'system',
  owner: 'auth',
  writers: { every: 'a charge is in the commit of what it counts, or a budget could be exceeded' },
  belongsTo: 'system',
  indexes: [{ fields: ['expiresAtMs'] }],
};

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
const PAUSE_MS = 100;
/** A call waits at most this long for others that have set aside what is left. */
const PATIENCE_MS = 150_000;
const TOKEN_KINDS = ['llmTokensPerDay', 'llmTokensPerMonth'] as const;

interface TokenReservationsOptions {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: UuidSource;
  readonly logger: Logger;
  readonly usage: Usage;
  readonly limits: KnownLimits;
  readonly alerts: BudgetAlerts;
  /** The counter as it stands; made when it is missing. */
  readonly present: (posting: Posting) => Promise<UsageDocument>;
  readonly metrics?: BudgetMetrics;
}

/** A counter of tokens with the limit of its kind. */
interface TokenPosting extends Posting {
  readonly kind: BudgetKind;
  /** Limit with action `Enforce`; null: none. */
  readonly limit: number | null;
}

/**
 * A call is admitted while less than the limit is used or set aside, and sets aside what it may come to. So of all calls
 * in all processes one alone can go beyond the limit. Where the limit is reached only by what others set aside, it waits
 * for them: they mostly use less.
 */
export function createTokenReservations(options: TokenReservationsOptions): Budgets['reserveTokens'] {
  const { clock, ids, limits, alerts, present } = options;
  const commit = createSerialCommits(options.store);
  return async (payer, expected, signal) => {
    const inForce = await limits.of(payer.accounts);
    const counters = payer.accounts.flatMap((account, index) =>
      tokenPostings(account, inForce[index] ?? new Map(), clock.now()),
    );
    const finish = { ...options, commit, payer, counters };
    if (counters.every(({ limit }) => limit === null)) return settling(finish, null);
    const id = ids.uuid();
    const untilMs = clock.monotonicMs() + PATIENCE_MS;
    for (;;) {
      signal?.throwIfAborted();
      const reservation = {
        tokens: expected,
        counters: counters.map((counter) => counter.id),
        expiresAtMs: clock.now().getTime() + LEASE_MS,
      };
      try {
        await commit(payer.accounts, [
          ...counters.map((counter) => admission(counter, expected)),
          insert(tokenReservationsCollection, id, reservation),
        ]);
        return settling(finish, { id, tokens: expected });
      } catch (error) {
        const counter = conflictOf(error, counters);
        if (counter === undefined) throw error;
        const current = await present(counter);
        const used = current[counter.kind] ?? 0;
        if (counter.limit !== null && used >= counter.limit) {
          const excess = { kind: counter.kind, account: counter.account, limit: counter.limit, used, amount: 0 };
          await alerts.exceeded(payer.tenant, counter, excess);
          throw overBudget(excess, clock.now());
        }
        if ((current.committed ?? 0) < (counter.limit ?? Number.POSITIVE_INFINITY)) continue;
      }
      if (clock.monotonicMs() >= untilMs) throw stillReserved();
      if ((await foldExpired(options.store, clock.now())) === 0) await pause(PAUSE_MS, signal);
    }
  };
}

type CommitFor = (accounts: readonly BudgetAccount[], writes: readonly Write[]) => Promise<void>;

/** Calls of an account that are made side by side would only disturb each other's commits. */
function createSerialCommits(store: DocumentStore): CommitFor {
  interface Task extends KeyedTask {
    readonly writes: readonly Write[];
    readonly done: PromiseWithResolvers<void>;
  }
  const start = createKeyedBatches<Task>({
    run: async ([task]) => {
      if (task === undefined) return;
      await store.commit(SYSTEM_SCOPE, task.writes).then(() => task.done.resolve(), task.done.reject);
    },
    fits: () => false,
  });
  return (accounts, writes) => {
    const done = Promise.withResolvers<void>();
    start({ writes, done, keys: new Set(accounts) });
    return done.promise;
  };
}

/** Gives back what dead processes had set aside. Returns how many reservations there were. */
export async function foldExpired(store: DocumentStore, now: Date): Promise<number> {
  const { items } = await store.find(SYSTEM_SCOPE, tokenReservationsCollection, {
    where: { expiresAtMs: { lessThan: now.getTime() } },
    sort: [{ field: 'expiresAtMs' }],
    limit: 100,
  });
  let folded = 0;
  for (const reservation of items) if (await fold(store, reservation)) folded += 1;
  return folded;
}

/** For a process that owns the store alone and just started: no other process has a call under way. */
export async function foldAll(store: DocumentStore): Promise<void> {
  while ((await foldExpired(store, new Date(Number.MAX_SAFE_INTEGER / 2 ** 10))) > 0);
}

async function fold(store: DocumentStore, { id, version, value }: Stored<ReservationDocument>): Promise<boolean> {
  const amounts = { committed: -value.tokens };
  return ignoreConflict(
    store.commit(SYSTEM_SCOPE, [
      remove(tokenReservationsCollection, id, version),
      ...value.counters.map((counter) => countWrite(counter, { amounts, required: false })),
    ]),
  );
}

interface Settling extends TokenReservationsOptions {
  readonly commit: CommitFor;
  readonly payer: Payer;
  readonly counters: readonly TokenPosting[];
}

/** `reserved` null: nothing is limited, the usage is only counted. */
function settling(parts: Settling, reserved: { readonly id: string; readonly tokens: number } | null) {
  const { commit, logger, counters, payer, alerts, metrics } = parts;
  const stopRenewing = reserved === null ? () => {} : renewing(parts, reserved.id);
  const end = async (tokens: number): Promise<void> => {
    stopRenewing();
    let held = reserved;
    for (;;) {
      const writes = counters.flatMap((counter) => usageWrite(counter, tokens, held?.tokens ?? 0));
      const freed =
        held === null
          ? []
          : [
              update(tokenReservationsCollection, held.id, { required: true }),
              remove(tokenReservationsCollection, held.id),
            ];
      try {
        if (writes.length + freed.length > 0) await commit(payer.accounts, [...freed, ...writes]);
        return;
      } catch (error) {
        const counter = conflictOf(error, counters);
        const isFolded = error instanceof VersionConflictError && error.collection === tokenReservationsCollection.name;
        if (isFolded) held = null;
        else if (counter === undefined) throw error;
        else await parts.present(counter);
      }
    }
  };
  return {
    async settle(usage: TokenUsage) {
      const tokens = usage.inputTokens + usage.outputTokens;
      await end(tokens);
      for (const kind of TOKEN_KINDS) metrics?.budgetCharged(kind, tokens);
      await alerts.warn(
        payer.tenant,
        counters.filter((counter) => counter.limits.get(counter.kind)?.action === 'Warn'),
      );
    },
    async release() {
      // What cannot be given back now is given back when it ends.
      await end(0).catch((error: unknown) => logger.warn('budget.reservation.release_failed', { error }));
    },
  };
}

function renewing({ store, clock, logger }: Settling, id: string): () => void {
  const timer = setInterval(() => {
    const set = { expiresAtMs: clock.now().getTime() + LEASE_MS };
    store.commit(SYSTEM_SCOPE, [update(tokenReservationsCollection, id, { set })]).catch((error: unknown) => {
      logger.warn('budget.reservation.renew_failed', { error });
    });
  }, RENEW_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function tokenPostings(account: BudgetAccount, limits: LimitsInForce, now: Date): readonly TokenPosting[] {
  return TOKEN_KINDS.map((kind) => {
    const counter = kind === 'llmTokensPerDay' ? 'day' : 'month';
    const window = windowOf(counter, now);
    const limit = limits.get(kind);
    return {
      id: usageId(account, counter, window),
      account,
      counter,
      window,
      amounts: {},
      limits,
      kind,
      limit: limit?.action === 'Enforce' ? limit.limit : null,
    };
  });
}

function admission({ id, limit }: TokenPosting, tokens: number): Write {
  const where = limit === null ? {} : { committed: { lessThan: limit } };
  return countWrite(id, { amounts: { committed: tokens }, where, required: true });
}

function usageWrite({ id, kind }: TokenPosting, tokens: number, reserved: number): readonly Write[] {
  const committed = tokens - reserved;
  if (tokens === 0 && committed === 0) return [];
  return [countWrite(id, { amounts: { [kind]: tokens, committed }, required: true })];
}

function conflictOf(error: unknown, counters: readonly TokenPosting[]): TokenPosting | undefined {
  if (!(error instanceof VersionConflictError) || error.collection !== usageCollection.name) return undefined;
  return counters.find(({ id }) => id === error.id);
}

function stillReserved(): Error {
  return engramError('TooManyRequestsError', 'Other calls have set aside what is left of the LLM budget.', {
    retryable: true,
    retryAfterSeconds: 10,
  });
}
