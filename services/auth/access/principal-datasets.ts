import { datasetsWith, keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isLimited, PERMISSIONS, type Principal } from '../../common/kernel/principal.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Role } from '../repositories/roles.ts';
import { authorityOf, capabilityMissing, requireCapability, requireTenant } from '../tenants/tenant-authority.ts';
import { findVisibleHolder, type Holder } from './holders.ts';

export interface PrincipalDatasetsQuery {
  /** Id of a user, a role or a tenant. */
  readonly holder: string;
  readonly permission: string;
}

/**
 * Datasets of the principal's current tenant on which the holder itself was granted the permission: what a revocation would
 * take, not what the holder has through others. None for an unknown permission. Errors: `EntityNotFoundError` for an unknown
 * holder and for those of tenants that the principal does not belong to, `PermissionDeniedError`, `RoleNotFoundError` for a role of another tenant, `TenantNotFoundError` in the personal
 * space for anybody else.
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
  if (isLimited(principal)) {
    throw engramError(
      'PermissionDeniedError',
      'This API key is limited to datasets; the request needs its whole account.',
    );
  }
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
