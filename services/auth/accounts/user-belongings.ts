import { type BudgetAccount, keyAccount } from '../../common/domain/budget.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { removeOfWrite } from '../../common/records/collections.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { holdingCollections, userCollections } from '../collections.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** What ends with an account. Datasets and tenants are not among it: they pass to somebody else (`heirs.ts`). */
export async function belongingsWrites(deps: AuthDependencies, user: UserId): Promise<readonly Write[]> {
  // A key that is made now changes the account, and the commit that these are for starts anew.
  const keys = await deps.apiKeys.ofUser(user);
  const accounts: readonly BudgetAccount[] = [`user/${user}`, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    ...userCollections.map((collection) => removeOfWrite(collection, 'user', user)),
  ];
}

/**
 * The same for collections of tenants, what the account holds in any of them, and for counters, which no request that is
 * under way asks the account about. Idempotent.
 */
export async function removeHoldings(deps: AuthDependencies, user: UserId): Promise<void> {
  const { store, budgets, sessionRemoval } = deps;
  for (const collection of holdingCollections) {
    await store.commit(SYSTEM_SCOPE, [removeOfWrite(collection, 'user', user)]);
  }
  await sessionRemoval.ofUser(SYSTEM_SCOPE, user);
  await store.commit(SYSTEM_SCOPE, budgets.removeWrites(`user/${user}`));
}
