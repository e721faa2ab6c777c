import type { TenantId, UserId } from '../../common/domain/brand.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { principalOf } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * The user as it stands now, working in the tenant that the job was started in. Null when the account is gone or inactive,
 * or does not belong to the tenant.
 */
export async function getPrincipal(
  { users }: Pick<AuthDependencies, 'users'>,
  userId: UserId,
  tenant: TenantId,
): Promise<Principal | null> {
  const user = await users.get(userId);
  if (user === null || !user.isActive) return null;
  // Everybody has a personal space; of other tenants an account knows the one it works in, until memberships exist.
  return tenant === PERSONAL_TENANT || tenant === user.tenant ? { ...principalOf(user), tenant } : null;
}
