import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { User } from '../../common/records/auth/users.ts';
import {
  authorityOf,
  capabilityMissing,
  requireCapability,
  requireTenant,
  tenantNotFound,
} from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';

export interface RoleWithCount {
  readonly role: Role;
  readonly userCount: number;
}

export interface MemberWithRoles {
  readonly user: User;
  readonly roles: readonly Role[];
}

/**
 * Lists roles by name: all for principals who manage users, their own for other members. `TenantNotFoundError`, also for
 * non-members.
 */
export async function rolesInTenant(
  deps: AuthDependencies,
  principal: Principal,
  id: TenantId,
): Promise<readonly RoleWithCount[]> {
  const tenant = await requireTenant(deps, id);
  const [authority, roles, members] = await Promise.all([
    authorityOf(deps, principal, tenant),
    deps.roles.ofTenant(id),
    deps.roleMembers.ofTenant(id),
  ]);
  if (!authority.isMember) throw tenantNotFound(id);
  const usersOf = Map.groupBy(members, ({ role }) => role);
  const isVisible = (role: Role): boolean =>
    authority.allows('manage_users') || (usersOf.get(role.id) ?? []).some(({ user }) => user === principal.id);
  return roles.filter(isVisible).map((role) => ({ role, userCount: usersOf.get(role.id)?.length ?? 0 }));
}

/**
 * Lists the users with a role, for those who have it and for principals who manage users. `RoleNotFoundError` unless it is a
 * role of the tenant, and for non-members.
 */
export async function usersWithRole(
  deps: AuthDependencies,
  principal: Principal,
  { tenant: id, role: roleId }: { readonly tenant: TenantId; readonly role: RoleId },
): Promise<readonly User[]> {
  const role = await deps.roles.get(roleId);
  const tenant = role?.tenant === id ? await deps.tenants.get(id) : null;
  const authority = tenant === null ? null : await authorityOf(deps, principal, tenant);
  if (authority === null || !authority.isMember) {
    throw engramError('RoleNotFoundError', 'Role not found for this tenant.');
  }
  const users = await deps.roleMembers.usersOf(roleId);
  if (!users.includes(principal.id) && !authority.allows('manage_users')) throw capabilityMissing('manage_users');
  return deps.users.getMany(users);
}

/** Lists the roles of a member by name, for principals who manage users. `UserNotFoundError` for a non-member. */
export async function rolesOfMember(
  deps: AuthDependencies,
  principal: Principal,
  { tenant, user }: { readonly tenant: TenantId; readonly user: UserId },
): Promise<readonly Role[]> {
  await requireCapability(deps, principal, tenant, 'manage_users');
  if (!(await deps.memberships.has(tenant, user))) {
    throw engramError('UserNotFoundError', 'User not found in tenant.');
  }
  const roles = await deps.roles.getMany(await deps.roleMembers.rolesOf(user, tenant));
  return roles.toSorted(byName);
}

/**
 * Lists the members in the order of joining, each with its roles by name, for principals who manage users.
 * `PermissionDeniedError` for all others, members or not; `TenantNotFoundError` for an unknown tenant.
 */
export async function membersOfTenant(
  deps: AuthDependencies,
  principal: Principal,
  tenant: TenantId,
): Promise<readonly MemberWithRoles[]> {
  const authority = await authorityOf(deps, principal, await requireTenant(deps, tenant));
  if (!authority.allows('manage_users')) throw capabilityMissing('manage_users');
  const [ids, roles, members] = await Promise.all([
    deps.memberships.usersOf(tenant),
    deps.roles.ofTenant(tenant),
    deps.roleMembers.ofTenant(tenant),
  ]);
  const assigned = new Set(members.map(({ role, user }) => `${role}/${user}`));
  const users = await deps.users.getMany(ids);
  return users.map((user) => ({ user, roles: roles.filter(({ id }) => assigned.has(`${id}/${user.id}`)) }));
}

function byName(one: Role, other: Role): number {
  return one.name < other.name ? -1 : 1;
}
