import type { TenantId, UserId } from '../../common/domain/brand.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { hasExpired, presentedKey } from '../../common/repositories/api-keys.ts';
import { principalOf, type User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { isAdmitted } from './is-admitted.ts';

type Dependencies = Pick<AuthDependencies, 'users' | 'memberships' | 'apiKeys' | 'clock'>;

/**
 * The user as it stands now, working in the tenant that the job was started in. Null when the account is gone or inactive,
 * or does not belong to the tenant any more; also when the job was started with an API key that does not hold any more.
 */
export async function getPrincipal(
  deps: Dependencies,
  { userId, tenant, key }: { readonly userId: UserId; readonly tenant: TenantId; readonly key?: string },
): Promise<Principal | null> {
  const user = await deps.users.get(userId);
  if (user === null || !(await isAdmitted(deps, user))) return null;
  if (!(await belongsTo(deps, user, tenant))) return null;
  const principal = { ...principalOf(user), tenant };
  if (key === undefined) return principal;
  const presented = await deps.apiKeys.get(key);
  const holds = presented !== null && presented.userId === user.id && !hasExpired(presented, deps.clock.now());
  return holds ? { ...principal, key: presentedKey(presented) } : null;
}

/** Everybody has a personal space; an agent lives where it was made, without being a member. */
async function belongsTo({ memberships }: Dependencies, user: User, tenant: TenantId): Promise<boolean> {
  if (tenant === PERSONAL_TENANT) return true;
  if (user.parentId !== null && user.tenant === tenant) return true;
  return memberships.has(tenant, user.id);
}
