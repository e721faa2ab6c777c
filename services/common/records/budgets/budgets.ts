import {
  BUDGET_KINDS,
  type BudgetAccount,
  type BudgetKind,
  type BudgetLimits,
  type LimitsInForce,
} from '../../domain/budget.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { StoredBudget } from '../../ports/budgets.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type BudgetDocument = {
  readonly limits: BudgetLimits;
  readonly ceiling: BudgetLimits;
  readonly updatedAt: string;
};

/** By account. Not the tenant's by level: services read it for any request. */
export const budgetsCollection: OwnedCollection<BudgetDocument> = {
  name: 'budgets',
  level: 'system',
  owner: 'auth',
  readers: ['ingest', 'cognify', 'improve', 'search', 'integrations'],
  belongsTo: { account: 'id' },
  indexes: [],
};

export type StoredBudgets = ReturnType<typeof createStoredBudgets>;

/** The limits that were given; the writes are committed by the caller, under any scope. */
export function createStoredBudgets(store: DocumentStore) {
  const records = repository(store, budgetsCollection, budgetOf);
  return {
    get: (account: BudgetAccount) => records.get(SYSTEM_SCOPE, account),
    getMany: (accounts: readonly BudgetAccount[]) => records.getMany(SYSTEM_SCOPE, accounts),
    /** `before`: what was read. `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since. */
    putWrite({ account, ...document }: Omit<StoredBudget, 'version'>, before: StoredBudget | null): Write {
      return records.putWrite(account, document, before);
    },
    removeWrite: (account: BudgetAccount) => records.removeWrite(account),
  };
}

/** Stored limits override the defaults, also with null. Keys have no defaults. */
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
