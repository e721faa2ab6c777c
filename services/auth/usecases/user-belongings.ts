import type { UserId } from '../../common/domain/brand.ts';
import { SYSTEM_SCOPE } from '../../common/domain/scope.ts';
import type { Write } from '../../common/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * What ends with an account: the one list of collections that hold something of a user. Datasets and tenants are not among
 * them: they pass to somebody else (`heirs.ts`). Whoever adds a collection of users' things adds it here.
 */
export function belongingsWrites(deps: AuthDependencies, user: UserId): readonly Write[] {
  return [
    deps.apiKeys.removeAllWrite(user),
    deps.mail.sent.removeWrite(user),
    deps.connections.removeAllOfUserWrite(user),
    deps.memberships.removeAllOfUserWrite(user),
    deps.roleMembers.removeAllOfUserWrite(user),
    deps.scimResources.removeAllOfUserWrite(user),
    deps.configurations.removeAllWrite(user),
    deps.linkedIdentities.removeAllOfUserWrite(user),
  ];
}

/** The same for collections of tenants: what the account holds in any of them. Idempotent. */
export async function removeHoldings({ store, grants, capabilities }: AuthDependencies, user: UserId): Promise<void> {
  await store.commit(SYSTEM_SCOPE, [grants.removeAllOfHolderWrite(user)]);
  await store.commit(SYSTEM_SCOPE, [capabilities.removeAllOfHolderWrite(user)]);
}
