import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { nameConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';
import { requireTenant, tenantNotFound } from './tenant-authority.ts';

interface NewRole {
  readonly tenant: TenantId;
  readonly name: string;
}

/**
 * Creates a role. The caller has checked that `by` may. Errors: `TenantNotFoundError`, `EntityAlreadyExistsError` for a name
 * in use.
 */
export async function createRole(deps: AuthDependencies, { tenant, name }: NewRole, by: UserId | null): Promise<Role> {
  await requireTenant(deps, tenant);
  const role: Role = { id: asId(deps.ids.uuid()), tenant, name, createdAt: deps.clock.now().toISOString() };
  const writes = [
    deps.tenants.changeWrite(tenant, {}),
    deps.roles.insertWrite(role),
    ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.created', subjectId: role.id, data: {} }]),
  ];
  const entry = { tenant, action: 'role.created', actor: by, subject: role.id, details: { name } };
  await nameConflict(deps.audit.commit({ tenant }, writes, [entry]), {
    duplicate: () => engramError('EntityAlreadyExistsError', 'Role already exists in this tenant.'),
    changed: () => tenantNotFound(tenant),
  });
  return role;
}

/**
 * Removes the role with its members, grants and capabilities. The caller has checked that `by` may. Errors:
 * `EntityNotFoundError`.
 */
export async function deleteRole(deps: AuthDependencies, id: RoleId, by: UserId | null): Promise<void> {
  const role = await deps.roles.get(id);
  if (role === null) throw roleGone();
  const { tenant, name } = role;
  const members = await deps.roleMembers.usersOf(id);
  const writes = [
    // Touched before it is removed: of two concurrent deletions one conflicts.
    deps.roles.touchWrite(id),
    deps.roles.removeWrite(id),
    deps.roleMembers.removeAllOfRoleWrite(id),
    deps.capabilities.removeAllOfHolderWrite(id),
    ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.deleted', subjectId: id, data: {} }]),
  ];
  const entry = { tenant, action: 'role.deleted', actor: by, subject: id, details: { name } };
  await nameConflict(deps.audit.commit({ tenant }, writes, [entry]), { changed: roleGone });
  // Datasets of any tenant may have been shared with the role. Its grants have no effect now, but would remain.
  await deps.store.commit(SYSTEM_SCOPE, [deps.grants.removeAllOfHolderWrite(id)]);
  // Its members, in whatever tenant they work now, and everybody in its tenant: somebody may have got it meanwhile.
  deps.notify.accessChanged(tenant, members);
  deps.notify.accessChanged(tenant, null);
}

function roleGone() {
  return engramError('EntityNotFoundError', 'Role not found.');
}

export interface RoleMembership {
  readonly role: RoleId;
  readonly user: UserId;
}

/**
 * Assigns the role to a member of its tenant. The caller has checked that `by` may. Errors: `UserNotFoundError`,
 * `RoleNotFoundError`, `TenantNotFoundError` for a user outside the tenant, `EntityAlreadyExistsError`.
 */
export async function joinRole(deps: AuthDependencies, membership: RoleMembership, by: UserId | null): Promise<void> {
  const { role: id, user } = membership;
  await retryOnConflict(async () => {
    const role = await assignableRole(deps, membership);
    const { tenant } = role;
    const writes = [
      // Touched, so that the assignment cannot outlive the role or the membership.
      deps.roles.touchWrite(id),
      deps.memberships.touchWrite(tenant, user),
      deps.roleMembers.insertWrite(role, user),
      ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.assigned', ...subjectOf(membership) }]),
    ];
    const entry = { tenant, action: 'role_member.added', actor: by, subject: user, details: { role: id } };
    await nameConflict(deps.audit.commit({ tenant }, writes, [entry]), { duplicate: alreadyAssigned });
    deps.notify.accessChanged(tenant, [user]);
  });
}

/** Takes the role from a user. Idempotent. Errors: `UserNotFoundError`, `RoleNotFoundError`. */
export async function leaveRole(deps: AuthDependencies, membership: RoleMembership, by: UserId | null): Promise<void> {
  const { role: id, user } = membership;
  await requireRoleUser(deps, user);
  const { tenant } = await requireRole(deps, id);
  if (!(await deps.roleMembers.has(id, user))) return;
  const writes = [
    deps.roleMembers.removeWrite(id, user),
    ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.unassigned', ...subjectOf(membership) }]),
  ];
  const entry = { tenant, action: 'role_member.removed', actor: by, subject: user, details: { role: id } };
  await deps.audit.commit({ tenant }, writes, [entry]);
  deps.notify.accessChanged(tenant, [user]);
}

/** Returns the role if it can be assigned to the user. Errors as `joinRole`, except `EntityAlreadyExistsError`. */
export async function assignableRole(deps: AuthDependencies, { role: id, user }: RoleMembership): Promise<Role> {
  await requireRoleUser(deps, user);
  const role = await requireRole(deps, id);
  if (!(await deps.memberships.has(role.tenant, user))) {
    throw engramError('TenantNotFoundError', 'User is not part of the tenant of the role.');
  }
  return role;
}

export async function requireRole({ roles }: AuthDependencies, id: RoleId): Promise<Role> {
  const role = await roles.get(id);
  if (role === null) throw roleNotFound();
  return role;
}

export function roleNotFound() {
  return engramError('RoleNotFoundError', 'User role not found.');
}

export async function requireRoleUser({ users }: AuthDependencies, id: UserId): Promise<void> {
  if ((await users.get(id)) === null) throw engramError('UserNotFoundError', 'User not found.');
}

function subjectOf({ role, user }: RoleMembership) {
  return { subjectId: `${role}/${user}`, data: { roleId: role, userId: user } };
}

function alreadyAssigned() {
  return engramError('EntityAlreadyExistsError', 'User already has the role.');
}
