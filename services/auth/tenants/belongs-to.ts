import type { TenantId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Everybody has a personal space; an agent lives where it was made, without being a member. */
export async function belongsTo(
  { memberships }: Pick<AuthDependencies, 'memberships'>,
  user: Pick<User, 'id' | 'parentId' | 'tenant'>,
  tenant: TenantId,
): Promise<boolean> {
  if (tenant === PERSONAL_TENANT) return true;
  if (user.parentId !== null && user.tenant === tenant) return true;
  return memberships.has(tenant, user.id);
}
