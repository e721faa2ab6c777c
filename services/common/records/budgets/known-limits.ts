import type { BudgetAccount, BudgetLimits, LimitsInForce } from '../../domain/budget.ts';
import { createTtlCache } from '../../kernel/ttl-cache.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import { limitsInForce, type StoredBudgets } from './budgets.ts';

export type KnownLimits = ReturnType<typeof createKnownLimits>;

/** Most accounts have no limit: knowing that must not cost a read per request. */
export function createKnownLimits(budgets: StoredBudgets, defaults: BudgetLimits, clock: MonotonicClock) {
  const known = createTtlCache<BudgetAccount, LimitsInForce>({ clock });
  return {
    /** Asks the store at most once a second for an account. */
    async of(accounts: readonly BudgetAccount[]): Promise<readonly LimitsInForce[]> {
      const found = accounts.map((account) => known.get(account));
      const unknown = accounts.filter((_, at) => found[at] === undefined);
      if (unknown.length === 0) return found as readonly LimitsInForce[];
      const lookUp = known.lookUp();
      const stored = new Map((await budgets.getMany(unknown)).map(({ account, limits }) => [account, limits]));
      return accounts.map((account, at) => {
        const held = found[at];
        if (held !== undefined) return held;
        const limits = limitsInForce(account, stored.get(account), defaults);
        known.put(account, limits, lookUp);
        return limits;
      });
    },
    forget: () => known.drop(() => true),
  };
}
