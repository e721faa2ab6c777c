import type { DatasetId, PrincipalId, UserId } from './brand.ts';
import { type EngramError, engramError } from './errors.ts';
import type { Permission, Principal } from './principal.ts';

/** What one holder (a user, a role or a tenant) may do with one dataset. */
export interface Grant {
  readonly holder: PrincipalId;
  readonly dataset: DatasetId;
  readonly permissions: ReadonlySet<Permission>;
}

/**
 * Whose grants count for a principal: its own and those of its child agents (auth-integrations.md §3.1). Tenants and
 * roles join here once they exist.
 */
export function grantHolders(principal: Pick<Principal, 'id'>, childAgents: readonly UserId[]): readonly UserId[] {
  return [...new Set([principal.id, ...childAgents])];
}

/** Who gets all four permissions on a new dataset: its creator and, when an agent creates, the agent's parent too. */
export function creatorHolders(creator: Pick<Principal, 'id' | 'parentId'>): readonly UserId[] {
  return creator.parentId === null ? [creator.id] : [...new Set([creator.id, creator.parentId])];
}

/** Datasets on which any of the grants gives the permission. No permission implies another. */
export function datasetsWith(permission: Permission, grants: readonly Grant[]): ReadonlySet<DatasetId> {
  return new Set(grants.filter((grant) => grant.permissions.has(permission)).map((grant) => grant.dataset));
}

/** 403 for a request that names datasets. A dataset that does not exist reads the same, so ids cannot be probed. */
export function notAllPermitted(permission: Permission): EngramError {
  return engramError(
    'PermissionDeniedError',
    `Request owner does not have necessary permission: [${permission}] for all datasets requested.`,
  );
}

/** Names that a run or an upload would have to create; `POST /datasets` takes any Unicode text. */
export function isCreatableDatasetName(name: string): boolean {
  return name !== '' && !/[\s.]/u.test(name) && name.isWellFormed();
}
