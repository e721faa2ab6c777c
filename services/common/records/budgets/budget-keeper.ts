import {
  type Bill,
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetLimits,
  type Demand,
  type Excess,
  overBudget,
  type Payer,
  standingText,
} from '../../domain/budget.ts';
import { engramError } from '../../kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { createKeyedBatches, type KeyedTask } from '../../platform/async/keyed-batches.ts';
import type { BudgetMetrics, Budgets } from '../../ports/budgets.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Clock, UuidSource, WallClock } from '../../ports/system.ts';
import {
  type DocumentStore,
  removeWhere,
  VersionConflictError,
  type Write,
} from '../../storage/ports/document-store.ts';
import { type BudgetAlerts, createBudgetAlerts } from './budget-alerts.ts';
import {
  emptyPosting,
  excessOf,
  giveBack,
  isEnforced,
  isWarned,
  type Posting,
  postings,
  postingWrite,
} from './budget-postings.ts';
import { createStoredBudgets } from './budgets.ts';
import { createKnownLimits, type KnownLimits } from './known-limits.ts';
import { modelUsageCollection } from './model-usage.ts';
import { createTokenReservations, foldExpired } from './token-reservations.ts';
import { createUsage, outdateWrite, type Usage, type UsageDocument, usageCollection, usageIdOf } from './usage.ts';

export interface BudgetKeeperOptions {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: UuidSource;
  readonly eventLog: Pick<EventLog, 'appendWrites'>;
  readonly logger: Logger;
  /** Limits of tenants and personal spaces; stored limits override them. */
  readonly defaults?: BudgetLimits;
  readonly metrics?: BudgetMetrics;
}

export function createBudgets(options: BudgetKeeperOptions): Budgets {
  const { store, clock } = options;
  const stored = createStoredBudgets(store);
  const limits = createKnownLimits(stored, options.defaults ?? {}, clock);
  const usage = createUsage(store);
  const alerts = createBudgetAlerts(options);
  const { postingsOf, present, tryCharge } = createBudgetCharging({ ...options, limits, usage, alerts });
  const refusal = async ({ tenant }: Pick<Bill, 'tenant'>, { posting, excess }: Refused): Promise<Error> => {
    await alerts.exceeded(tenant, posting, excess);
    return overBudget(excess, clock.now());
  };
  return {
    async charge(bill, commit) {
      const outcome = await tryCharge(bill, commit);
      if ('excess' in outcome) throw await refusal(bill, outcome);
      return outcome.result;
    },
    async check(bill) {
      const planned = (await postingsOf(bill)).filter(isEnforced);
      for (const posting of planned) {
        const excess = excessOf(posting, await present(posting));
        if (excess !== null) throw await refusal(bill, { posting, excess });
      }
    },
    returnWrites(accounts, demand) {
      const given = negated(demand);
      return accounts.flatMap((account) => postings({ account, demand: given }, new Map(), clock.now()).map(giveBack));
    },
    recountWrites: (accounts) => accounts.map(outdateWrite),
    admitRequest: createRequestAdmissions({
      limits,
      tryCharge: (bill) => tryCharge(bill, (writes) => store.commit(SYSTEM_SCOPE, writes)),
      // Of those that were counted together the first ones took what was left; this is one of the others.
      refusal(payer, { posting, excess }) {
        const used = Math.max(excess.used, excess.limit);
        return refusal(payer, { posting, excess: { ...excess, used, amount: 1 } });
      },
    }),
    ...createBudgetStandings({
      limits,
      usage,
      clock,
      counted: (account, now) => present(emptyPosting(account, 'stored', now)),
    }),
    reserveTokens: createTokenReservations({ ...options, usage, limits, alerts, present }),
    async sweep() {
      await usage.sweep(clock.now());
      while ((await foldExpired(store, clock.now())) > 0);
    },
    removeWrites: (account) => [
      stored.removeWrite(account),
      usage.removeAllWrite(account),
      removeWhere(modelUsageCollection, { account }),
    ],
    forget: limits.forget,
  };
}

function negated(demand: Demand): Demand {
  return Object.fromEntries(Object.entries(demand).map(([kind, amount]) => [kind, -amount]));
}

interface BudgetStandingsOptions {
  readonly limits: KnownLimits;
  readonly usage: Usage;
  readonly clock: WallClock;
  /** Counts what the account has stored, where that is not known. */
  readonly counted: (account: BudgetAccount, now: Date) => Promise<unknown>;
}

/** Reads what accounts have used of their budgets. */
function createBudgetStandings(options: BudgetStandingsOptions): Pick<Budgets, 'standing' | 'warnings'> {
  const { limits, usage, clock, counted } = options;
  return {
    async warnings({ accounts }) {
      const inForce = await limits.of(accounts);
      if (!inForce.some((each) => [...each.values()].some(({ action }) => action === 'Warn'))) return [];
      const now = clock.now();
      const warned = accounts.flatMap((account, index) =>
        [...(inForce[index] ?? [])].flatMap(([kind, { limit, action }]) =>
          action === 'Warn' ? [{ account, kind, limit, id: usageIdOf(account, kind, now) }] : [],
        ),
      );
      const found = await usage.getMany([...new Set(warned.map(({ id }) => id))]);
      return warned.flatMap(({ account, kind, limit, id }) => {
        const used = found.get(id)?.[kind] ?? 0;
        return used > limit ? [standingText({ account, kind, limit, used, amount: 0 })] : [];
      });
    },
    async standing(account) {
      const now = clock.now();
      await counted(account, now);
      const [inForce = new Map()] = await limits.of([account]);
      const found = await usage.getMany(BUDGET_KINDS.map((kind) => usageIdOf(account, kind, now)));
      const used = BUDGET_KINDS.map((kind) => [kind, found.get(usageIdOf(account, kind, now))?.[kind] ?? 0]);
      return { inForce, used: Object.fromEntries(used) as Readonly<Record<BudgetKind, number>> };
    },
  };
}

interface RequestAdmissionsOptions {
  readonly limits: KnownLimits;
  readonly tryCharge: (bill: Bill) => Promise<ChargeOutcome<unknown>>;
  /** Error of a refusal, after its alert. */
  readonly refusal: (payer: Payer, outcome: Extract<ChargeOutcome<unknown>, { excess: Excess }>) => Promise<Error>;
}

interface Admission extends KeyedTask {
  readonly payer: Payer;
  /** Accounts of the payer that limit requests. */
  readonly accounts: readonly BudgetAccount[];
  readonly done: PromiseWithResolvers<void>;
}

/** Requests that are counted in one commit. */
const MAX_GROUP = 500;

/**
 * Counts requests of accounts that limit them. Those of one process that come while another count is being written go
 * together, so a rush costs a few commits; none is counted that is refused.
 */
function createRequestAdmissions(options: RequestAdmissionsOptions): Budgets['admitRequest'] {
  const { limits, tryCharge, refusal } = options;

  const admit = async (group: readonly Admission[]): Promise<void> => {
    let wanted = group;
    while (wanted.length > 0) {
      const [first] = wanted;
      if (first === undefined) return;
      const outcome = await tryCharge({ tenant: first.payer.tenant, charges: chargesOf(wanted) });
      if (!('excess' in outcome)) break;
      const { account, limit, used } = outcome.excess;
      const refused = wanted.filter(({ accounts }) => accounts.includes(account)).slice(Math.max(0, limit - used));
      for (const { payer, done } of refused) done.reject(await refusal(payer, outcome));
      const isOut = new Set(refused);
      wanted = wanted.filter((task) => !isOut.has(task));
    }
    for (const { done } of wanted) done.resolve();
  };
  const start = createKeyedBatches<Admission>({
    run: async (group) => {
      try {
        await admit(group);
      } catch (error) {
        // Admissions that were settled already are not affected.
        for (const { done } of group) done.reject(error);
      }
    },
    fits: (group) => group.length < MAX_GROUP,
  });
  return async (payer) => {
    const inForce = await limits.of(payer.accounts);
    const accounts = payer.accounts.filter((_, index) => inForce[index]?.has('requestsPerMinute'));
    if (accounts.length === 0) return;
    const done = Promise.withResolvers<void>();
    start({ payer, accounts, done, keys: new Set(accounts) });
    await done.promise;
  };
}

/** Keys first: whom a key's limit refuses must not take the place of another one in its tenant's. */
function chargesOf(group: readonly Admission[]): Bill['charges'] {
  const counts = new Map<BudgetAccount, number>();
  for (const account of group.flatMap(({ accounts }) => accounts)) {
    counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  const keysFirst = [...counts].toSorted(([one], [other]) => Number(isKey(other)) - Number(isKey(one)));
  return keysFirst.map(([account, requestsPerMinute]) => ({ account, demand: { requestsPerMinute } }));
}

function isKey(account: BudgetAccount): boolean {
  return account.startsWith('key/');
}

interface Refused {
  readonly posting: Posting;
  readonly excess: Excess;
}

type ChargeOutcome<Result> = { readonly result: Result } | Refused;

interface BudgetCharging {
  postingsOf(bill: Bill): Promise<readonly Posting[]>;
  /** The counter as it stands; it is made when it is missing. */
  present(posting: Posting): Promise<UsageDocument>;
  /** `commit` writes what is counted, and what it is for, in one commit. Beyond a limit nothing is written. */
  tryCharge<Result>(bill: Bill, commit: (writes: readonly Write[]) => Promise<Result>): Promise<ChargeOutcome<Result>>;
}

interface BudgetChargingParts {
  readonly limits: KnownLimits;
  readonly usage: Usage;
  readonly alerts: BudgetAlerts;
  readonly clock: Clock;
  readonly metrics?: BudgetMetrics;
}

/** Each time another one was faster; with n at the same time at most n - 1 are. */
const MAX_ATTEMPTS = 1000;

/** Counts what is demanded against the limits in force. */
function createBudgetCharging({ limits, usage, alerts, clock, metrics }: BudgetChargingParts): BudgetCharging {
  const postingsOf = async ({ charges }: Bill): Promise<readonly Posting[]> => {
    // What is given back is not limited.
    const limited = charges.filter(({ demand }) => Object.values(demand).some((amount) => amount > 0));
    const inForce = new Map(zip(limited, await limits.of(limited.map(({ account }) => account))));
    const now = clock.now();
    return charges.flatMap((each) => postings(each, inForce.get(each) ?? new Map(), now));
  };
  const present = async ({ id, account, counter, window }: Posting): Promise<UsageDocument> => {
    for (;;) {
      const found = await usage.get(id);
      if (found !== null && !found.outdated) return found;
      await usage.create(account, counter, window);
    }
  };
  const tryCharge = async <Result>(bill: Bill, commit: (writes: readonly Write[]) => Promise<Result>) => {
    for (let attempt = 1; ; attempt += 1) {
      const planned = await postingsOf(bill);
      try {
        const result = await commit(planned.map(postingWrite));
        for (const { amounts } of planned) count(metrics, amounts);
        await alerts.warn(bill.tenant, planned.filter(isWarned));
        return { result };
      } catch (error) {
        const posting = isUsageConflict(error) ? planned.find(({ id }) => id === error.id) : undefined;
        if (posting === undefined) throw error;
        const excess = excessOf(posting, await present(posting));
        if (excess !== null) return { posting, excess };
        if (attempt === MAX_ATTEMPTS) throw tooManyChanges(error);
      }
    }
  };
  return { postingsOf, present, tryCharge };
}

function zip<One, Other>(ones: readonly One[], others: readonly Other[]): readonly (readonly [One, Other])[] {
  return ones.map((one, index) => [one, others[index] as Other]);
}

function count(metrics: BudgetMetrics | undefined, amounts: Demand): void {
  for (const kind of BUDGET_KINDS) {
    const amount = amounts[kind] ?? 0;
    if (amount > 0) metrics?.budgetCharged(kind, amount);
  }
}

function isUsageConflict(error: unknown): error is VersionConflictError {
  return error instanceof VersionConflictError && error.collection === usageCollection.name;
}

function tooManyChanges(cause: unknown): Error {
  const text = 'Too many changes are counted for the same budget at the same time';
  return engramError('ServiceUnavailableError', text, { cause, retryable: true, retryAfterSeconds: 1 });
}
