import { type BudgetAccount, keyAccount } from '../../common/domain/budget.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createSyncRuns } from '../../common/records/integrations/sync-runs.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * What ends with an account: the one list of collections that hold something of a user. Datasets and tenants are not among
 * them: they pass to somebody else (`heirs.ts`). Whoever adds a collection of users' things adds it here.
 */
export async function belongingsWrites(deps: AuthDependencies, user: UserId): Promise<readonly Write[]> {
  // A key that is made now changes the account, and the commit that these are for starts anew.
  const keys = await deps.apiKeys.ofUser(user);
  const accounts: readonly BudgetAccount[] = [`user/${user}`, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    deps.apiKeys.removeAllWrite(user),
    deps.mail.sent.removeWrite(user),
    deps.connections.removeAllOfUserWrite(user),
    deps.memberships.removeAllOfUserWrite(user),
    deps.roleMembers.removeAllOfUserWrite(user),
    deps.scimResources.removeAllOfUserWrite(user),
    deps.configurations.removeAllWrite(user),
    deps.linkedIdentities.removeAllOfUserWrite(user),
    createSyncRuns(deps.store).removeAllOfUserWrite(user),
  ];
}

/**
 * The same for collections of tenants, what the account holds in any of them, and for counters, which no request that is
 * under way asks the account about. Idempotent.
 */
export async function removeHoldings(deps: AuthDependencies, user: UserId): Promise<void> {
  const { store, grants, capabilities, budgets, sessionRemoval } = deps;
  await store.commit(SYSTEM_SCOPE, [grants.removeAllOfHolderWrite(user)]);
  await store.commit(SYSTEM_SCOPE, [capabilities.removeAllOfHolderWrite(user)]);
  await sessionRemoval.ofUser(SYSTEM_SCOPE, user);
  await store.commit(SYSTEM_SCOPE, budgets.removeWrites(`user/${user}`));
}
