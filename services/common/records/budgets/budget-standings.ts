import { BUDGET_KINDS, type BudgetAccount, type BudgetKind, standingText } from '../../domain/budget.ts';
import type { Budgets } from '../../ports/budgets.ts';
import type { Clock } from '../../ports/system.ts';
import type { KnownLimits } from './known-limits.ts';
import { type Usage, usageIdOf } from './usage.ts';

export interface BudgetStandingsOptions {
  readonly limits: Pick<KnownLimits, 'of'>;
  readonly usage: Pick<Usage, 'getMany'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Counts what the account has stored, where that is not known. */
  readonly counted: (account: BudgetAccount, now: Date) => Promise<unknown>;
}

/** What accounts have used of their budgets: only read. */
export function createBudgetStandings(options: BudgetStandingsOptions): Pick<Budgets, 'standing' | 'warnings'> {
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
