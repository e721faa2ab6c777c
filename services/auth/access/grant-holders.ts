import { grantHolders } from '../../common/domain/permissions.ts';
import type { PrincipalId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Whose grants count for the user, in one round of reads. */
export async function grantHoldersOf(
  { users, memberships, roleMembers }: Pick<AuthDependencies, 'users' | 'memberships' | 'roleMembers'>,
  user: Pick<Principal, 'id'>,
): Promise<readonly PrincipalId[]> {
  const [childAgents, tenants, roles] = await Promise.all([
    users.childAgents(user.id),
    memberships.tenantsOf(user.id),
    roleMembers.rolesOf(user.id),
  ]);
  return grantHolders(user, { childAgents, tenants, roles });
}
