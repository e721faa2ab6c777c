import type { BudgetAccount, BudgetKind, BudgetLimits, LimitsInForce } from '../../domain/budget.ts';
import { BUDGET_KINDS } from '../../domain/budget.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { StoredBudget } from '../../ports/budgets.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';

type BudgetDocument = {
  readonly limits: BudgetLimits;
  readonly ceiling: BudgetLimits;
  readonly updatedAt: string;
};

/** By account. Not the tenant's by level: services read it for any request. */
export const budgetsCollection: Collection<BudgetDocument> = { name: 'budgets', level: 'system', indexes: [] };

/** The limits that were given; the writes are committed by the caller, under any scope. */
export interface StoredBudgets {
  get(account: BudgetAccount): Promise<StoredBudget | null>;
  getMany(accounts: readonly BudgetAccount[]): Promise<readonly StoredBudget[]>;
  /** `before`: what was read. `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since. */
  putWrite(budget: Omit<StoredBudget, 'version'>, before: StoredBudget | null): Write;
  removeWrite(account: BudgetAccount): Write;
}

export function createStoredBudgets(store: DocumentStore): StoredBudgets {
  return {
    async get(account) {
      const stored = await store.get(SYSTEM_SCOPE, budgetsCollection, account);
      return stored === null ? null : budgetOf(stored);
    },
    async getMany(accounts) {
      return (await store.getMany(SYSTEM_SCOPE, budgetsCollection, accounts)).map(budgetOf);
    },
    putWrite({ account, ...document }, before) {
      return before === null
        ? insert(budgetsCollection, account, document)
        : replace(budgetsCollection, account, document, before.version);
    },
    removeWrite: (account) => remove(budgetsCollection, account),
  };
}

/** What is given wins over the default, a null too. Keys have no defaults. */
export function limitsInForce(
  account: BudgetAccount,
  stored: BudgetLimits | undefined,
  defaults: BudgetLimits,
): LimitsInForce {
  const fallback = account.startsWith('key/') ? {} : defaults;
  const limits: [BudgetKind, { limit: number; action: 'Enforce' | 'Warn' }][] = [];
  for (const kind of BUDGET_KINDS) {
    const { limit = null, action = 'Enforce' } = stored?.[kind] ?? fallback[kind] ?? {};
    if (limit !== null) limits.push([kind, { limit, action }]);
  }
  return new Map(limits);
}

function budgetOf({ id, version, value }: Stored<BudgetDocument>): StoredBudget {
  const { limits, ceiling, updatedAt } = value;
  return { account: id as BudgetAccount, limits, ceiling, updatedAt, version };
}
