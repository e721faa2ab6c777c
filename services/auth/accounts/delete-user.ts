import { type BudgetAccount, keyAccount } from '../../common/domain/budget.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { type User, usersCollection } from '../../common/records/auth/users.ts';
import { removeOfWrite } from '../../common/records/collections.ts';
import { createSessionRemoval } from '../../common/records/session-removal.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import { holdingCollections, userCollections } from '../collections.ts';
import type { AuthDependencies } from '../model.ts';
import { isDefaultAddress, otherSuperuserWrite } from './account.ts';
import { type AccountDeletion, transferDatasets, transferTenants } from './transfer-ownership.ts';

/**
 * Deletes an account with its agents and their data; its datasets and tenants get other owners (`transfer-ownership.ts`). The
 * account is deactivated first and removed last: in between its datasets are transferred in as many commits as they need, and
 * an interrupted deletion continues when it is repeated. The caller has checked that `by` may. Errors: `UserNotFoundError`;
 * `PermissionDeniedError` for the default account and the last superuser.
 */
export async function deleteUser(deps: AuthDependencies, id: UserId, by: UserId | null): Promise<void> {
  const user = await deps.users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'User not found.');
  if (isDefaultAddress(deps.settings, user.email)) {
    throw engramError('PermissionDeniedError', 'The default account cannot be deleted: the server uses it.');
  }
  await retryOnConflict(async () => {
    if (!(await deactivate(deps, id, by))) return;
    // Agents are created only for active users: from here on there are no new ones.
    const agents = await deps.users.childAgents(id);
    const deletion: AccountDeletion = { leaving: new Set([id, ...agents]), by };
    for (const agent of agents) await removeAgent(deps, agent, deletion);
    await transferTenants(deps, id, deletion);
    await removeAccount(deps, id, deletion);
  });
}

async function removeAgent(deps: AuthDependencies, id: UserId, deletion: AccountDeletion): Promise<void> {
  await retryOnConflict(async () => {
    if (!(await deactivate(deps, id, deletion.by))) return;
    await transferTenants(deps, id, deletion);
    await removeAccount(deps, id, deletion);
  });
}

/** Ends all credentials of the account. False when the account is gone. */
async function deactivate(deps: AuthDependencies, id: UserId, by: UserId | null): Promise<boolean> {
  return retryOnConflict(async () => {
    const user = await deps.users.get(id);
    if (user === null) return false;
    if (!user.isActive) return true;
    const at = deps.clock.now().toISOString();
    const details = { is_active: false, reason: 'deletion' };
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [
        deps.users.replaceWrite({ ...user, isActive: false, updatedAt: at }),
        ...(user.isSuperuser ? [await otherSuperuserWrite(deps, id)] : []),
      ],
      [{ tenant: PERSONAL_TENANT, action: 'user.changed', actor: by, subject: id, details }],
    );
    deps.notify.userChanged(id);
    return true;
  });
}

/**
 * Removes the account without its datasets. `VersionConflictError` when it changed meanwhile: it was activated again, or got
 * something.
 */
async function removeAccount(deps: AuthDependencies, id: UserId, deletion: AccountDeletion): Promise<void> {
  const user = await deps.users.get(id);
  if (user === null) return;
  if (user.isActive) throw new VersionConflictError(usersCollection.name, id);
  await transferDatasets(deps, user, deletion);
  await removeHoldings(deps, id);
  await deps.audit.commit(
    { tenant: PERSONAL_TENANT },
    [
      deps.users.removeWrite(user),
      ...(await belongingsWrites(deps, id)),
      ...deps.eventLog.appendWrites({ tenant: PERSONAL_TENANT }, [{ type: 'user.deleted', subjectId: id, data: {} }]),
    ],
    [removalOf(user, deletion.by)],
  );
  deps.notify.userChanged(id);
  // Again, for grants that were written meanwhile: they have no effect now, but would remain.
  await removeHoldings(deps, id);
}

function removalOf({ id, email, parentId }: User, by: UserId | null) {
  return {
    tenant: PERSONAL_TENANT,
    action: parentId === null ? 'user.deleted' : 'agent.deleted',
    actor: by,
    subject: id,
    details: { email, ...(parentId === null ? {} : { parent: parentId }) },
  };
}

async function belongingsWrites(deps: AuthDependencies, user: UserId): Promise<readonly Write[]> {
  // Creating a key changes the account: the commit of these writes conflicts then and is repeated.
  const keys = await deps.apiKeys.ofUser(user);
  const accounts: readonly BudgetAccount[] = [`user/${user}`, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    ...userCollections.map((collection) => removeOfWrite(collection, 'user', user)),
  ];
}

/**
 * Removes what the account holds in any tenant, and its counters: requests in flight write these without touching the
 * account. Idempotent.
 */
async function removeHoldings({ store, budgets }: AuthDependencies, user: UserId): Promise<void> {
  for (const collection of holdingCollections) {
    await store.commit(SYSTEM_SCOPE, [removeOfWrite(collection, 'user', user)]);
  }
  await createSessionRemoval(store).ofUser(SYSTEM_SCOPE, user);
  await store.commit(SYSTEM_SCOPE, budgets.removeWrites(`user/${user}`));
}
