import type { BudgetAccount, BudgetLimits, LimitsInForce } from '../../domain/budget.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import { limitsInForce, type StoredBudgets } from './budgets.ts';

const TTL_MS = 1000;
const MAX_ACCOUNTS = 10_000;

export type KnownLimits = ReturnType<typeof createKnownLimits>;

/** Most accounts have no limit: knowing that must not cost a read per request. */
export function createKnownLimits(budgets: StoredBudgets, defaults: BudgetLimits, clock: MonotonicClock) {
  const known = new Map<BudgetAccount, { readonly limits: LimitsInForce; readonly untilMs: number }>();
  let era = 0;
  const remember = (account: BudgetAccount, limits: LimitsInForce, untilMs: number): void => {
    known.delete(account);
    if (known.size >= MAX_ACCOUNTS) known.delete(known.keys().next().value ?? account);
    known.set(account, { limits, untilMs });
  };
  return {
    /** Asks the store at most once a second for an account. */
    async of(accounts: readonly BudgetAccount[]): Promise<readonly LimitsInForce[]> {
      const now = clock.monotonicMs();
      const fresh = new Map<BudgetAccount, LimitsInForce>();
      const unknown = accounts.filter((account) => {
        const entry = known.get(account);
        if (entry === undefined || now >= entry.untilMs) return true;
        fresh.set(account, entry.limits);
        return false;
      });
      if (unknown.length > 0) {
        const askedIn = era;
        const stored = new Map((await budgets.getMany(unknown)).map(({ account, limits }) => [account, limits]));
        for (const account of unknown) {
          const limits = limitsInForce(account, stored.get(account), defaults);
          fresh.set(account, limits);
          // News that came meanwhile may be about this answer.
          if (askedIn === era) remember(account, limits, now + TTL_MS);
        }
      }
      return accounts.map((account) => fresh.get(account) ?? new Map());
    },
    forget(): void {
      era += 1;
      known.clear();
    },
  };
}
