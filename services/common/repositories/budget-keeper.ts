import {
  type Bill,
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetLimits,
  type BudgetWindow,
  type Charge,
  type Counter,
  counterOf,
  type Demand,
  type Excess,
  type LimitsInForce,
  overBudget,
  windowOf,
} from '../domain/budget.ts';
import { engramError } from '../domain/errors.ts';
import { SYSTEM_SCOPE } from '../domain/scope.ts';
import type { BudgetMetrics, Budgets } from '../ports/budgets.ts';
import {
  type AnyCollection,
  type DocumentStore,
  type Filter,
  VersionConflictError,
  type Write,
} from '../ports/document-store.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Logger } from '../ports/logger.ts';
import type { Clock, IdSource } from '../ports/system.ts';
import { createBudgetNews } from './budget-news.ts';
import { createBudgetStandings } from './budget-standings.ts';
import { budgetsCollection, createStoredBudgets } from './budgets.ts';
import { dataItemsCollection } from './data-items.ts';
import { datasetsCollection } from './datasets.ts';
import { createKnownLimits } from './known-limits.ts';
import { createRequestAdmissions } from './request-admissions.ts';
import { createTokenReservations, foldExpired, tokenReservationsCollection } from './token-reservations.ts';
import { countWrite, createUsage, outdateWrite, type UsageDocument, usageCollection, usageId } from './usage.ts';

export interface BudgetKeeperOptions {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'uuid'>;
  readonly eventLog: Pick<EventLog, 'appendWrites'>;
  readonly logger: Logger;
  /** Of tenants and personal spaces; what is stored for one wins. */
  readonly defaults?: BudgetLimits;
  readonly metrics?: BudgetMetrics;
}

/** What a store must have prepared that budgets are kept over; what is counted, too. */
export const budgetCollections: readonly AnyCollection[] = [
  budgetsCollection,
  usageCollection,
  tokenReservationsCollection,
  dataItemsCollection,
  datasetsCollection,
];

/** Each time another one was faster; with n at the same time at most n - 1 are. */
const MAX_ATTEMPTS = 1000;

/** One counter of a charge: what is added to it, and up to which limits. */
export interface Posting {
  readonly id: string;
  readonly account: BudgetAccount;
  readonly counter: Counter;
  readonly window: BudgetWindow | null;
  readonly amounts: Demand;
  readonly limits: LimitsInForce;
}

interface Refused {
  readonly posting: Posting;
  readonly excess: Excess;
}

export type ChargeOutcome<Result> = { readonly result: Result } | Refused;

export function createBudgets(options: BudgetKeeperOptions): Budgets {
  const { store, clock, metrics } = options;
  const stored = createStoredBudgets(store);
  const limits = createKnownLimits(stored, options.defaults ?? {}, clock);
  const usage = createUsage(store);
  const news = createBudgetNews(options);

  const postingsOf = async ({ charges }: Bill): Promise<readonly Posting[]> => {
    // What is given back is not limited.
    const limited = charges.filter(({ demand }) => Object.values(demand).some((amount) => amount > 0));
    const inForce = new Map(zip(limited, await limits.of(limited.map(({ account }) => account))));
    const now = clock.now();
    return charges.flatMap((each) => postings(each, inForce.get(each) ?? new Map(), now));
  };
  const refusal = async ({ tenant }: Pick<Bill, 'tenant'>, { posting, excess }: Refused): Promise<Error> => {
    await news.exceeded(tenant, posting, excess);
    return overBudget(excess, clock.now());
  };
  /** The counter as it stands; it is made when it is missing. */
  const present = async ({ id, account, counter, window }: Posting): Promise<UsageDocument> => {
    for (;;) {
      const found = await usage.get(id);
      if (found !== null && !found.outdated) return found;
      await usage.create(account, counter, window);
    }
  };
  const tryCharge = async <Result>(
    bill: Bill,
    commit: (writes: readonly Write[]) => Promise<Result>,
  ): Promise<ChargeOutcome<Result>> => {
    for (let attempt = 1; ; attempt += 1) {
      const planned = await postingsOf(bill);
      try {
        const result = await commit(planned.map(postingWrite));
        for (const { amounts } of planned) count(metrics, amounts);
        await news.warnOf(bill.tenant, planned.filter(isWarned));
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
      ...{ limits, usage, clock },
      counted: (account, now) => present(emptyPosting(account, 'stored', now)),
    }),
    reserveTokens: createTokenReservations({ ...options, usage, limits, news, present }),
    async sweep() {
      await usage.sweep(clock.now());
      while ((await foldExpired(store, clock.now())) > 0);
    },
    removeWrites: (account) => [stored.removeWrite(account), usage.removeAllWrite(account)],
    forget: limits.forget,
  };
}

function zip<One, Other>(ones: readonly One[], others: readonly Other[]): readonly (readonly [One, Other])[] {
  return ones.map((one, index) => [one, others[index] as Other]);
}

/** The demand of a charge by counter, without what is zero. */
function postings({ account, demand }: Charge, limits: LimitsInForce, now: Date): readonly Posting[] {
  const kinds = BUDGET_KINDS.filter((kind) => (demand[kind] ?? 0) !== 0);
  return [...Map.groupBy(kinds, counterOf)].map(([counter, group]) => ({
    ...emptyPosting(account, counter, now),
    amounts: Object.fromEntries(group.map((kind) => [kind, demand[kind]])),
    limits,
  }));
}

function emptyPosting(account: BudgetAccount, counter: Counter, now: Date): Posting {
  const window = windowOf(counter, now);
  return { id: usageId(account, counter, window), account, counter, window, amounts: {}, limits: new Map() };
}

/** An API key may be gone with its counters when something that came by it goes. */
function postingWrite(posting: Posting): Write {
  const { id, account, amounts, limits } = posting;
  const kinds = Object.entries(amounts) as [BudgetKind, number][];
  const where: Filter<UsageDocument> = Object.fromEntries(
    kinds.flatMap(([kind, amount]) => {
      const limit = limits.get(kind);
      return limit?.action === 'Enforce' && amount > 0 ? [[kind, { atMost: limit.limit - amount }]] : [];
    }),
  );
  const gives = kinds.every(([, amount]) => amount < 0);
  const isCurrent = posting.counter === 'stored' ? { outdated: { exists: false } } : {};
  return countWrite(id, {
    amounts,
    where: { ...where, ...isCurrent },
    required: !(gives && account.startsWith('key/')),
  });
}

function giveBack({ id, amounts }: Posting): Write {
  return countWrite(id, { amounts, required: false });
}

function excessOf({ account, amounts, limits }: Posting, current: UsageDocument): Excess | null {
  for (const [kind, amount] of Object.entries(amounts) as [BudgetKind, number][]) {
    const limit = limits.get(kind);
    const used = current[kind] ?? 0;
    if (limit?.action === 'Enforce' && amount > 0 && used + amount > limit.limit) {
      return { kind, account, limit: limit.limit, used, amount };
    }
  }
  return null;
}

function isEnforced({ amounts, limits }: Posting): boolean {
  return hasAction(amounts, limits, 'Enforce');
}

function isWarned({ amounts, limits }: Posting): boolean {
  return hasAction(amounts, limits, 'Warn');
}

function hasAction(amounts: Demand, limits: LimitsInForce, action: 'Enforce' | 'Warn'): boolean {
  return BUDGET_KINDS.some((kind) => (amounts[kind] ?? 0) > 0 && limits.get(kind)?.action === action);
}

function negated(demand: Demand): Demand {
  return Object.fromEntries(Object.entries(demand).map(([kind, amount]) => [kind, -amount]));
}

function count(metrics: BudgetMetrics | undefined, amounts: Demand): void {
  for (const kind of BUDGET_KINDS) {
    const amount = amounts[kind] ?? 0;
    if (amount > 0) metrics?.budgetCharged(kind, amount);
  }
}

export function isUsageConflict(error: unknown): error is VersionConflictError {
  return error instanceof VersionConflictError && error.collection === usageCollection.name;
}

function tooManyChanges(cause: unknown): Error {
  const text = 'Too many changes are counted for the same budget at the same time';
  return engramError('ServiceUnavailableError', text, { cause, retryable: true, retryAfterSeconds: 1 });
}
