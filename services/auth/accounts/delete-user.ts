import { type BudgetAccount, keyAccount } from '../../common/domain/budget.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { type User, usersCollection } from '../../common/records/auth/users.ts';
import { removeOfWrite } from '../../common/records/collections.ts';
import { createSessionRemoval } from '../../common/records/sessions/session-removal.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import { holdingCollections, userCollections } from '../collections.ts';
import type { AuthDependencies } from '../model.ts';
import { isDefaultAddress, otherSuperuserWrite } from './account.ts';
import { type AccountDeletion, handOverDatasets, handOverTenants } from './transfer-ownership.ts';

/**
 * Deletes an account with its agents and everything of them; datasets and tenants pass to somebody else (`heirs.ts`). It is
 * shut out first and removed last: between the two its datasets are handed over in as many commits as they need, and what
 * was cut short goes on when the deletion is repeated. The caller has checked that `by` may do it. Errors:
 * `UserNotFoundError`; `PermissionDeniedError` for the default account and the last superuser.
 */
export async function deleteUser(deps: AuthDependencies, id: UserId, by: UserId | null): Promise<void> {
  const user = await deps.users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'User not found.');
  if (isDefaultAddress(deps.settings, user.email)) {
    throw engramError('PermissionDeniedError', 'The default account cannot be deleted: the server works under it.');
  }
  await retryOnConflict(async () => {
    if (!(await deactivate(deps, id, by))) return;
    // Agents are made only for active users: from here on there are no more.
    const agents = await deps.users.childAgents(id);
    const deletion: AccountDeletion = { leaving: new Set([id, ...agents]), by };
    for (const agent of agents) await removeAgent(deps, agent, deletion);
    await handOverTenants(deps, id, deletion);
    await removeAccount(deps, id, deletion);
  });
}

async function removeAgent(deps: AuthDependencies, id: UserId, deletion: AccountDeletion): Promise<void> {
  await retryOnConflict(async () => {
    if (!(await deactivate(deps, id, deletion.by))) return;
    await handOverTenants(deps, id, deletion);
    await removeAccount(deps, id, deletion);
  });
}

/** Ends every credential of the account. False when the account is gone. */
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

/** `VersionConflictError` when the account changed meanwhile: it may have been activated again, or was given something. */
async function removeAccount(deps: AuthDependencies, id: UserId, deletion: AccountDeletion): Promise<void> {
  const user = await deps.users.get(id);
  if (user === null) return;
  if (user.isActive) throw new VersionConflictError(usersCollection.name, id);
  await handOverDatasets(deps, user, deletion);
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
  // Once more, for what was granted since: nobody can hold it now, but it would lie about.
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
  // A key that is made now changes the account, and the commit that these are for starts anew.
  const keys = await deps.apiKeys.ofUser(user);
  const accounts: readonly BudgetAccount[] = [`user/${user}`, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    ...userCollections.map((collection) => removeOfWrite(collection, 'user', user)),
  ];
}

/**
 * Removes what the account has in any tenant, and its counters: requests that are under way write these without touching the
 * account. Idempotent.
 */
async function removeHoldings({ store, budgets }: AuthDependencies, user: UserId): Promise<void> {
  for (const collection of holdingCollections) {
    await store.commit(SYSTEM_SCOPE, [removeOfWrite(collection, 'user', user)]);
  }
  await createSessionRemoval(store).ofUser(SYSTEM_SCOPE, user);
  await store.commit(SYSTEM_SCOPE, budgets.removeWrites(`user/${user}`));
}
