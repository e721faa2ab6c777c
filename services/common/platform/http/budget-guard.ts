import { payerOf } from '../../domain/budget.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Budgets } from '../../ports/budgets.ts';
import type { Reply } from './route.ts';

export type RequestBudgets = Pick<Budgets, 'admitRequest' | 'warnings'>;

/** Names every limit with `Warn` that is passed when the answer goes out. */
const WARNING_HEADER = 'x-engram-budget-warning';

export type BudgetGuard = ReturnType<typeof createBudgetGuard>;

export function createBudgetGuard(budgets: RequestBudgets) {
  return {
    /** Counts a request of the principal, before its body is read. `TooManyRequestsError` with the wait. */
    admit: (principal: Principal) => budgets.admitRequest(payerOf(principal)),
    async marked(reply: Reply, principal: Principal | null) {
      const passed = principal === null ? [] : await budgets.warnings(payerOf(principal));
      if (passed.length === 0) return reply;
      return { ...reply, headers: { ...reply.headers, [WARNING_HEADER]: passed.join('; ') } };
    },
  };
}
