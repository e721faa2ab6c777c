import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Role } from '../repositories/roles.ts';
import { requireTenant, tenantNotFound } from '../tenants/tenant-authority.ts';

type CreateDependencies = Pick<AuthDependencies, 'audit' | 'clock' | 'eventLog' | 'ids' | 'roles' | 'tenants'>;
type DeleteDependencies = Pick<
  AuthDependencies,
  'audit' | 'capabilities' | 'eventLog' | 'grants' | 'news' | 'roleMembers' | 'roles' | 'store'
>;

export interface NewRole {
  readonly tenant: TenantId;
  readonly name: string;
}

/** The caller has checked that `by` may. Errors: `TenantNotFoundError`, `EntityAlreadyExistsError` for a name in use. */
export async function createRole(
  deps: CreateDependencies,
  { tenant, name }: NewRole,
  by: UserId | null,
): Promise<Role> {
  await requireTenant(deps, tenant);
  const role: Role = { id: asId(deps.ids.uuid()), tenant, name, createdAt: deps.clock.now().toISOString() };
  const writes = [
    deps.tenants.changeWrite(tenant, {}),
    deps.roles.insertWrite(role),
    ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.created', subjectId: role.id, data: {} }]),
  ];
  try {
    const entry = { tenant, action: 'role.created', actor: by, subject: role.id, details: { name } };
    await deps.audit.commit({ tenant }, writes, [entry]);
    return role;
  } catch (error) {
    if (error instanceof DuplicateKeyError) {
      throw engramError('EntityAlreadyExistsError', 'Role already exists in this tenant.');
    }
    if (error instanceof VersionConflictError) throw tenantNotFound(tenant);
    throw error;
  }
}

/**
 * Removes the role with its members, grants and capabilities. The caller has checked that `by` may. Errors:
 * `EntityNotFoundError`.
 */
export async function deleteRole(deps: DeleteDependencies, id: RoleId, by: UserId | null): Promise<void> {
  const role = await deps.roles.get(id);
  if (role === null) throw roleGone();
  const { tenant, name } = role;
  const members = await deps.roleMembers.usersOf(id);
  const writes = [
    // Touched before it is removed: of two deletions one finds it gone.
    deps.roles.touchWrite(id),
    deps.roles.removeWrite(id),
    deps.roleMembers.removeAllOfRoleWrite(id),
    deps.capabilities.removeAllOfHolderWrite(id),
    ...deps.eventLog.appendWrites({ tenant }, [{ type: 'role.deleted', subjectId: id, data: {} }]),
  ];
  try {
    await deps.audit.commit({ tenant }, writes, [
      { tenant, action: 'role.deleted', actor: by, subject: id, details: { name } },
    ]);
  } catch (error) {
    if (error instanceof VersionConflictError) throw roleGone();
    throw error;
  }
  // Datasets of any tenant may have been shared with it. Nobody can hold them now, but they would lie about.
  await deps.store.commit(SYSTEM_SCOPE, [deps.grants.removeAllOfHolderWrite(id)]);
  // Whoever had it, wherever they work now; and, should one have got it meanwhile, everybody in its tenant.
  deps.news.accessChanged(tenant, members);
  deps.news.accessChanged(tenant, null);
}

function roleGone() {
  return engramError('EntityNotFoundError', 'Role not found.');
}
