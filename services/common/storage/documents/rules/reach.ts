import { type AnyScope, isSystemScope } from '../../../kernel/scope.ts';
import type { CollectionRules } from './collection-rules.ts';
import { DATASET, TENANT } from './ordering.ts';

/** The documents of a collection that a scope can see: an absent part means any. */
export interface Reach {
  readonly tenant?: string;
  readonly dataset?: string;
}

/** Tenant and dataset of a document; null where its collection's level has none. */
export interface Place {
  readonly tenant: string | null;
  readonly dataset: string | null;
}

/** Documents of a `system` collection have no tenant: every scope reaches them. */
export function reachOf(scope: AnyScope, rules: Pick<CollectionRules, 'level'>): Reach {
  if (rules.level === 'system' || isSystemScope(scope)) return {};
  if (rules.level === 'tenant' || scope.dataset === undefined) return { tenant: scope.tenant };
  return { tenant: scope.tenant, dataset: scope.dataset };
}

/** Tenant and dataset of an insert under the scope. Throws for a scope that is too wide for the collection. */
export function placeOf(scope: AnyScope, rules: Pick<CollectionRules, 'level' | 'name'>): Place {
  if (rules.level === 'system') return { tenant: null, dataset: null };
  if (isSystemScope(scope)) throw new Error(`the system scope cannot insert into ${rules.name}: it has no tenant`);
  if (rules.level === 'tenant') return { tenant: scope.tenant, dataset: null };
  if (scope.dataset === undefined) throw new Error(`an insert into ${rules.name} needs a scope with a dataset`);
  return { tenant: scope.tenant, dataset: scope.dataset };
}

/** Whether a reach has one value of a field only, behind which nothing can stand in an order. */
export function isPinned(field: string, reach: Reach): boolean {
  return (field === TENANT && reach.tenant !== undefined) || (field === DATASET && reach.dataset !== undefined);
}
