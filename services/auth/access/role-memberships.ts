import type { RoleId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Role } from '../repositories/roles.ts';

export interface RoleMembership {
  readonly role: RoleId;
  readonly user: UserId;
}

type Dependencies = Pick<
  AuthDependencies,
  'audit' | 'eventLog' | 'memberships' | 'news' | 'roleMembers' | 'roles' | 'users'
>;

/**
 * Gives the role to a member of its tenant. The caller has checked that `by` may. Errors: `UserNotFoundError`,
 * `RoleNotFoundError`, `TenantNotFoundError` for a user outside the tenant, `EntityAlreadyExistsError`.
 */
export async function joinRole(deps: Dependencies, membership: RoleMembership, by: UserId | null): Promise<void> {
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
    try {
      await deps.audit.commit({ tenant }, writes, [entry]);
      deps.news.accessChanged(tenant, [user]);
    } catch (error) {
      if (error instanceof DuplicateKeyError) throw alreadyAssigned();
      throw error;
    }
  });
}

/** Idempotent. Errors: `UserNotFoundError`, `RoleNotFoundError`. */
export async function leaveRole(deps: Dependencies, membership: RoleMembership, by: UserId | null): Promise<void> {
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
  deps.news.accessChanged(tenant, [user]);
}

/** The role, when the user is one it can be given to. Errors as of `joinRole`, but for the last. */
export async function assignableRole(deps: Dependencies, { role: id, user }: RoleMembership): Promise<Role> {
  await requireRoleUser(deps, user);
  const role = await requireRole(deps, id);
  if (!(await deps.memberships.has(role.tenant, user))) {
    throw engramError('TenantNotFoundError', 'User is not part of the tenant of the role.');
  }
  return role;
}

export async function requireRole({ roles }: Pick<Dependencies, 'roles'>, id: RoleId): Promise<Role> {
  const role = await roles.get(id);
  if (role === null) throw roleNotFound();
  return role;
}

export function roleNotFound() {
  return engramError('RoleNotFoundError', 'User role not found.');
}

export async function requireRoleUser({ users }: Pick<Dependencies, 'users'>, id: UserId): Promise<void> {
  if ((await users.get(id)) === null) throw engramError('UserNotFoundError', 'User not found.');
}

function subjectOf({ role, user }: RoleMembership) {
  return { subjectId: `${role}/${user}`, data: { roleId: role, userId: user } };
}

function alreadyAssigned() {
  return engramError('EntityAlreadyExistsError', 'User already has the role.');
}
