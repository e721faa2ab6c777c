import type { TenantId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../model.ts';

/** Whether credentials of the account are accepted. Those of an agent are accepted while its parent's are. */
export async function isAdmitted(
  { users }: AuthDependencies,
  { isActive, parentId }: Pick<User, 'isActive' | 'parentId'>,
): Promise<boolean> {
  if (!isActive || parentId === null) return isActive;
  return (await users.get(parentId))?.isActive === true;
}

/**
 * Whether the user belongs to the tenant: members do, every user belongs to the personal space, and an agent to the tenant in
 * which it was created, without being a member.
 */
export async function belongsTo(
  { memberships }: AuthDependencies,
  user: Pick<User, 'id' | 'parentId' | 'tenant'>,
  tenant: TenantId,
): Promise<boolean> {
  if (tenant === PERSONAL_TENANT) return true;
  if (user.parentId !== null && user.tenant === tenant) return true;
  return memberships.has(tenant, user.id);
}
