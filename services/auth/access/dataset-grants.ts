import { datasetsWith, keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import {
  isLimited,
  limitedKeyError,
  PERMISSIONS,
  type Permission,
  type Principal,
} from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import type { GrantChange } from '../repositories/grants.ts';
import type { Role } from '../repositories/roles.ts';
import { affectedUsers, findHolder, findVisibleHolder, type Holder, holderWrite } from './holders.ts';
import { resolveDatasets } from './resolve-datasets.ts';
import { authorityOf, capabilityMissing, requireCapability, requireTenant } from './tenant-authority.ts';

interface GrantRequest {
  readonly principal: Principal;
  /** Id of a user, a role or a tenant. */
  readonly holder: string;
  readonly permission: string;
  /** Not empty: an empty list must not be taken for all datasets. */
  readonly datasets: readonly string[];
}

/**
 * Grants one permission on all of the datasets, or on none. Idempotent. Errors: `PermissionDeniedError` unless the principal
 * may share all of them, `EntityNotFoundError` for an unknown holder and for a tenant or role of a tenant that the principal
 * does not belong to, `PermissionNotFoundError`.
 */
export function grantDatasets(deps: AuthDependencies, request: GrantRequest): Promise<void> {
  return changeGrants(deps, request, true);
}

/** Revokes it. Idempotent. Errors as for granting. */
export function revokeDatasets(deps: AuthDependencies, request: GrantRequest): Promise<void> {
  return changeGrants(deps, request, false);
}

async function changeGrants(deps: AuthDependencies, request: GrantRequest, isGiven: boolean): Promise<void> {
  const { principal, datasets: ids } = request;
  await retryOnConflict(async () => {
    // In each attempt: a principal that lost the right to share meanwhile is refused.
    const datasets = await resolveDatasets(deps, { principal, permission: 'share', ids });
    const datasetIds = datasets.map(({ id }) => id);
    const holder =
      (await findVisibleHolder(deps, principal, request.holder)) ??
      (isGiven ? null : await findGrantedHolder(deps, request, datasetIds));
    if (holder === null) throw engramError('EntityNotFoundError', `Could not find principal: ${request.holder}`);
    const permission = knownPermission(request.permission);
    const change = { holder: holder.id, permission, isGiven };
    if (await commitChange(deps, { principal, holder, change, datasetIds })) {
      deps.notify.accessChanged(principal.tenant, affectedUsers(holder));
    }
  });
}

/**
 * The holder if it has grants on the datasets: a principal that left a tenant can still revoke what the tenant or its roles
 * were granted.
 */
async function findGrantedHolder(
  deps: AuthDependencies,
  { principal, holder: id }: GrantRequest,
  datasets: readonly DatasetId[],
): Promise<Holder | null> {
  const holder = await findHolder(deps, id);
  if (holder === null) return null;
  const grants = await deps.grants.on({ tenant: principal.tenant }, datasets, [holder.id]);
  return grants.length > 0 ? holder : null;
}

interface Change {
  readonly principal: Principal;
  readonly holder: Holder;
  readonly change: GrantChange;
  readonly datasetIds: readonly DatasetId[];
}

/** False when nothing had to be changed. */
async function commitChange(deps: AuthDependencies, { principal, holder, change, datasetIds }: Change) {
  const { tenant, id: actor } = principal;
  const changes = await deps.grants.changes({ tenant }, datasetIds, change);
  const writes: Write[] = change.isGiven ? [holderWrite(deps, holder)] : [];
  for (const { dataset, writes: ofDataset } of changes) {
    writes.push(...ofDataset, ...deps.eventLog.appendWrites({ tenant, dataset }, [eventOf(dataset, change)]));
  }
  const [first, ...rest] = changes.map(({ dataset }): AuditEntry => {
    const action = change.isGiven ? 'grant.given' : 'grant.revoked';
    return { tenant, action, actor, subject: dataset, details: { holder: holder.id, permission: change.permission } };
  });
  if (first === undefined) return false;
  await deps.audit.commit({ tenant }, writes, [first, ...rest]);
  return true;
}

function eventOf(dataset: DatasetId, { holder, permission, isGiven }: GrantChange) {
  const type = isGiven ? 'access.granted' : 'access.revoked';
  return { type, subjectId: `${dataset}/${holder}/${permission}`, data: { holderId: holder, permission } };
}

function knownPermission(name: string): Permission {
  const known = PERMISSIONS.find((permission) => permission === name);
  if (known !== undefined) return known;
  throw engramError('PermissionNotFoundError', `${name} not found or not in allowed permission types`);
}

/**
 * Returns what was granted on a dataset, and to whom. Errors: `PermissionDeniedError` unless the principal may share it with
 * its whole account.
 */
export async function datasetHolders(
  deps: AuthDependencies,
  principal: Principal,
  id: string,
): Promise<readonly { readonly holder: Holder; readonly permissions: ReadonlySet<Permission> }[]> {
  if (isLimited(principal)) throw limitedKeyError();
  const datasets = await resolveDatasets(deps, { principal, permission: 'share', ids: [id] });
  const grants = await Promise.all(
    datasets.map((dataset) => deps.grants.onDataset({ tenant: principal.tenant }, dataset.id)),
  );
  const held = grants.flat().map(async ({ holder: holderId, permissions }) => {
    const holder = await findHolder(deps, holderId);
    return holder === null ? [] : [{ holder, permissions }];
  });
  return (await Promise.all(held)).flat();
}

interface PrincipalDatasetsQuery {
  /** Id of a user, a role or a tenant. */
  readonly holder: string;
  readonly permission: string;
}

/**
 * Returns the datasets of the principal's current tenant on which the holder itself was granted the permission, not those
 * that it reaches through others. None for an unknown permission. Errors: `EntityNotFoundError` for an unknown holder and for
 * those of tenants that the principal does not belong to, `PermissionDeniedError`, `RoleNotFoundError` for a role of another
 * tenant, `TenantNotFoundError` in the personal space for another user.
 */
export async function principalDatasets(
  deps: AuthDependencies,
  principal: Principal,
  query: PrincipalDatasetsQuery,
): Promise<readonly DatasetRef[]> {
  const holder = await findVisibleHolder(deps, principal, query.holder);
  if (holder === null) throw engramError('EntityNotFoundError', `Could not find principal: ${query.holder}`);
  await requireInsight(deps, principal, holder);
  const permission = PERMISSIONS.find((known) => known === query.permission);
  if (permission === undefined || !keyAllows(principal, permission)) return [];
  const scope = { tenant: principal.tenant };
  const granted = datasetsWith(permission, await deps.grants.ofHolders(scope, [holder.id]));
  const datasets = await deps.datasets.getMany(
    scope,
    [...granted].filter((id) => keyReaches(principal, id)),
  );
  return datasets.map(datasetRef).toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

async function requireInsight(deps: AuthDependencies, principal: Principal, holder: Holder): Promise<void> {
  if (holder.id === principal.id) return;
  if (isLimited(principal)) throw limitedKeyError();
  if (holder.kind === 'user') {
    await requireCapability(deps, principal, principal.tenant, 'manage_users');
  } else if (holder.kind === 'role') {
    await requireRoleInsight(deps, principal, holder.role);
  } else if (holder.id !== principal.tenant) {
    throw engramError('PermissionDeniedError', 'User is not authorized to read datasets of another tenant');
  }
}

async function requireRoleInsight(deps: AuthDependencies, principal: Principal, role: Role): Promise<void> {
  if (role.tenant !== principal.tenant) {
    throw engramError('RoleNotFoundError', 'Role not found for this tenant.');
  }
  if (await deps.roleMembers.has(role.id, principal.id)) return;
  const authority = await authorityOf(deps, principal, await requireTenant(deps, role.tenant));
  if (!authority.allows('manage_users')) throw capabilityMissing('manage_users');
}
