import type { TenantId, UserId } from '../../common/domain/brand.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { principalOf, type User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { isAdmitted } from './is-admitted.ts';

type Dependencies = Pick<AuthDependencies, 'users' | 'memberships'>;

/**
 * The user as it stands now, working in the tenant that the job was started in. Null when the account is gone or inactive,
 * or does not belong to the tenant any more.
 */
export async function getPrincipal(deps: Dependencies, userId: UserId, tenant: TenantId): Promise<Principal | null> {
  const user = await deps.users.get(userId);
  if (user === null || !(await isAdmitted(deps, user))) return null;
  return (await belongsTo(deps, user, tenant)) ? { ...principalOf(user), tenant } : null;
}

/** Everybody has a personal space; an agent lives where it was made, without being a member. */
async function belongsTo({ memberships }: Dependencies, user: User, tenant: TenantId): Promise<boolean> {
  if (tenant === PERSONAL_TENANT) return true;
  if (user.parentId !== null && user.tenant === tenant) return true;
  return memberships.has(tenant, user.id);
}
