import {
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetWindow,
  type Charge,
  type Counter,
  counterOf,
  type Demand,
  type Excess,
  type LimitsInForce,
  windowOf,
} from '../../domain/budget.ts';
import type { Filter, Write } from '../../storage/ports/document-store.ts';
import { countWrite, type UsageDocument, usageId } from './usage.ts';

/** One counter of a charge: what is added to it, and up to which limits. */
export interface Posting {
  readonly id: string;
  readonly account: BudgetAccount;
  readonly counter: Counter;
  readonly window: BudgetWindow | null;
  readonly amounts: Demand;
  readonly limits: LimitsInForce;
}

/** The demand of a charge by counter, without what is zero. */
export function postings({ account, demand }: Charge, limits: LimitsInForce, now: Date): readonly Posting[] {
  const kinds = BUDGET_KINDS.filter((kind) => (demand[kind] ?? 0) !== 0);
  return [...Map.groupBy(kinds, counterOf)].map(([counter, group]) => ({
    ...emptyPosting(account, counter, now),
    amounts: Object.fromEntries(group.map((kind) => [kind, demand[kind]])),
    limits,
  }));
}

export function emptyPosting(account: BudgetAccount, counter: Counter, now: Date): Posting {
  const window = windowOf(counter, now);
  return { id: usageId(account, counter, window), account, counter, window, amounts: {}, limits: new Map() };
}

/** An API key may be gone with its counters when something that came by it goes. */
export function postingWrite(posting: Posting): Write {
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

export function giveBack({ id, amounts }: Posting): Write {
  return countWrite(id, { amounts, required: false });
}

export function excessOf({ account, amounts, limits }: Posting, current: UsageDocument): Excess | null {
  for (const [kind, amount] of Object.entries(amounts) as [BudgetKind, number][]) {
    const limit = limits.get(kind);
    const used = current[kind] ?? 0;
    if (limit?.action === 'Enforce' && amount > 0 && used + amount > limit.limit) {
      return { kind, account, limit: limit.limit, used, amount };
    }
  }
  return null;
}

export function isEnforced({ amounts, limits }: Posting): boolean {
  return hasAction(amounts, limits, 'Enforce');
}

export function isWarned({ amounts, limits }: Posting): boolean {
  return hasAction(amounts, limits, 'Warn');
}

function hasAction(amounts: Demand, limits: LimitsInForce, action: 'Enforce' | 'Warn'): boolean {
  return BUDGET_KINDS.some((kind) => (amounts[kind] ?? 0) > 0 && limits.get(kind)?.action === action);
}
