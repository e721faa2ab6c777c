import { BUDGET_KINDS, type BudgetKind, counterOf, windowOf } from '../../common/domain/budget.ts';
import type { AccountBudget } from '../budgets/budgets.ts';

/** Limits beside what is used of them. */
export function presentBudget({ account, stored, standing, at }: AccountBudget) {
  const limits = BUDGET_KINDS.map((kind) => {
    const inForce = standing.inForce.get(kind);
    const windowEndsAt = windowOf(counterOf(kind), at)?.endsAt.toISOString() ?? null;
    const { limit, action } = inForce ?? { limit: null, action: null };
    return [kind, { limit, action, used: standing.used[kind], source: sourceOf(kind), windowEndsAt }];
  });
  return { account, limits: Object.fromEntries(limits), updatedAt: stored?.updatedAt ?? null };

  function sourceOf(kind: BudgetKind): 'stored' | 'default' | 'none' {
    if (stored?.limits[kind] !== undefined) return 'stored';
    return standing.inForce.has(kind) ? 'default' : 'none';
  }
}
