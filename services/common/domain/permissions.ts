import type { DatasetId, PrincipalId, RoleId, TenantId, UserId } from '../kernel/brand.ts';
import { type EngramError, engramError } from '../kernel/errors.ts';
import type { KeyHolder, Permission, Principal } from '../kernel/principal.ts';

/** Permissions of one holder (a user, a role or a tenant) on one dataset. */
export interface Grant {
  readonly holder: PrincipalId;
  readonly dataset: DatasetId;
  readonly permissions: ReadonlySet<Permission>;
}

/** Relations of a user in all tenants. */
interface Connections {
  readonly childAgents: readonly UserId[];
  readonly tenants: readonly TenantId[];
  readonly roles: readonly RoleId[];
}

/**
 * Whose grants count for a user (auth-integrations.md §3.1): its own, those of its child agents, of every tenant it belongs
 * to, and of its roles as long as it belongs to one at all. Which datasets they open is cut to the current tenant elsewhere:
 * grants are read in its scope.
 */
export function grantHolders(
  user: Pick<Principal, 'id'>,
  { childAgents, tenants, roles }: Connections,
): readonly PrincipalId[] {
  return [...new Set([user.id, ...childAgents, ...tenants, ...(tenants.length === 0 ? [] : roles)])];
}

/** Whether the API key that the principal came with, if any, has the permission at all. */
export function keyAllows({ key }: KeyHolder, permission: Permission): boolean {
  return key === undefined || key.permissions === null || key.permissions.includes(permission);
}

/** Other datasets than those of the API key, if it has any, do not exist for the principal. */
export function keyReaches({ key }: KeyHolder, dataset: DatasetId): boolean {
  return key === undefined || key.datasets === null || key.datasets.includes(dataset);
}

/** A limited key may not create what it could not reach, or would exceed its permissions. */
export function requireDatasetCreation(principal: KeyHolder): void {
  if (keyAllows(principal, 'write') && (principal.key?.datasets ?? null) === null) return;
  throw engramError('PermissionDeniedError', 'This API key is limited; it cannot create datasets.');
}

/** Accounts with all four permissions on a new dataset: its creator and, when an agent creates, the agent's parent too. */
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

/**
 * `InvalidDatasetNameError` for a name that a run, an upload or a restore would have to create; `POST /datasets` takes any
 * Unicode text.
 */
export function requireCreatableDatasetName(name: string): void {
  const fault = !name.isWellFormed()
    ? 'contain invalid Unicode'
    : name === ''
      ? 'be empty'
      : /[\s.]/u.test(name)
        ? 'contain spaces or dots'
        : null;
  if (fault !== null) throw engramError('InvalidDatasetNameError', `Dataset name cannot ${fault}.`);
}
