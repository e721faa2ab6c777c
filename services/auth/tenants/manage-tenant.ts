import { ADMIN_ROLE, CAPABILITIES } from '../../common/domain/capabilities.ts';
import type { RoleId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import {
  assignableRole,
  createRole,
  deleteRole,
  joinRole,
  leaveRole,
  type RoleMembership,
  requireRole,
  requireRoleUser,
  roleNotFound,
} from '../access/roles.ts';
import {
  authorityOf,
  capabilityMissing,
  isInsider,
  requireCapability,
  requireTenant,
} from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';
import { joinTenant, leaveTenant, type Membership, requireUser } from './memberships.ts';

/**
 * Requests of a principal about a tenant. Each checks, in the order of the contract (proto/http/auth-integrations.md §3.2),
 * that the principal may manage its users. Errors beside those of the shared use cases: `TenantNotFoundError`,
 * `PermissionDeniedError`.
 */
export async function addMember(deps: AuthDependencies, principal: Principal, membership: Membership): Promise<void> {
  await requireUser(deps, membership.user);
  await requireCapability(deps, principal, membership.tenant, 'manage_users');
  await joinTenant(deps, membership, principal.id);
}

export async function removeMember(deps: AuthDependencies, principal: Principal, membership: Membership) {
  await requireCapability(deps, principal, membership.tenant, 'manage_users');
  await leaveTenant(deps, membership, principal.id);
}

/** Creates a role in the principal's current tenant. */
export async function addRole(deps: AuthDependencies, principal: Principal, name: string): Promise<Role> {
  await requireCapability(deps, principal, principal.tenant, 'manage_users');
  return createRole(deps, { tenant: principal.tenant, name }, principal.id);
}

export async function removeRole(deps: AuthDependencies, principal: Principal, id: RoleId): Promise<void> {
  const role = await deps.roles.get(id);
  if (role === null || !(await isInsider(deps, principal, role.tenant))) {
    throw engramError('EntityNotFoundError', 'Role not found.');
  }
  await requireCapability(deps, principal, role.tenant, 'manage_users');
  await deleteRole(deps, id, principal.id);
}

/** Assigns a role. The principal needs all capabilities of the role itself. */
export async function assignRole(deps: AuthDependencies, principal: Principal, membership: RoleMembership) {
  await requireRoleUser(deps, membership.user);
  await requireVisibleRole(deps, principal, membership.role);
  const role = await assignableRole(deps, membership);
  const authority = await authorityOf(deps, principal, await requireTenant(deps, role.tenant));
  if (!authority.allows('manage_users')) throw capabilityMissing('manage_users');
  const lacking = (await capabilitiesOfRole(deps, role)).filter((capability) => !authority.allows(capability));
  if (lacking.length > 0) {
    const text = `User cannot assign a role that carries capabilities they do not hold: ${lacking.join(', ')}`;
    throw engramError('PermissionDeniedError', text);
  }
  await joinRole(deps, membership, principal.id);
}

export async function withdrawRole(deps: AuthDependencies, principal: Principal, membership: RoleMembership) {
  await requireRoleUser(deps, membership.user);
  const role = await requireVisibleRole(deps, principal, membership.role);
  await requireCapability(deps, principal, role.tenant, 'manage_users');
  await leaveRole(deps, membership, principal.id);
}

/** `RoleNotFoundError` also for principals outside the tenant of the role. */
async function requireVisibleRole(deps: AuthDependencies, principal: Principal, id: RoleId): Promise<Role> {
  const role = await requireRole(deps, id);
  if (!(await isInsider(deps, principal, role.tenant))) throw roleNotFound();
  return role;
}

async function capabilitiesOfRole({ capabilities }: AuthDependencies, { id, tenant, name }: Role) {
  if (name === ADMIN_ROLE) return CAPABILITIES;
  const granted = new Set((await capabilities.ofHolders(tenant, [id])).map(({ capability }) => capability));
  return CAPABILITIES.filter((capability) => granted.has(capability));
}
