import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { User } from '../../common/records/auth/users.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { isDefaultAddress } from './default-user.ts';
import { handOverDatasets } from './hand-over-datasets.ts';
import { handOverTenants } from './hand-over-tenants.ts';
import type { Departure } from './heirs.ts';
import { otherSuperuserWrite } from './last-superuser.ts';
import { belongingsWrites, removeHoldings } from './user-belongings.ts';

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
  for (;;) {
    if (!(await shutOut(deps, id, by))) return;
    // Agents are made only for active users: from here on there are no more.
    const agents = await deps.users.childAgents(id);
    const departure: Departure = { leaving: new Set([id, ...agents]), by };
    for (const agent of agents) await removeAgent(deps, agent, departure);
    await handOverTenants(deps, id, departure);
    if (await removeEmptied(deps, id, departure)) return;
  }
}

async function removeAgent(deps: AuthDependencies, id: UserId, departure: Departure): Promise<void> {
  for (;;) {
    if (!(await shutOut(deps, id, departure.by))) return;
    await handOverTenants(deps, id, departure);
    if (await removeEmptied(deps, id, departure)) return;
  }
}

/** Ends every credential of the account. False when the account is gone. */
async function shutOut(deps: AuthDependencies, id: UserId, by: UserId | null): Promise<boolean> {
  for (;;) {
    const user = await deps.users.get(id);
    if (user === null) return false;
    if (!user.isActive) return true;
    const at = deps.clock.now().toISOString();
    const details = { is_active: false, reason: 'deletion' };
    try {
      await deps.audit.commit(
        { tenant: PERSONAL_TENANT },
        [
          deps.users.replaceWrite({ ...user, isActive: false, updatedAt: at }),
          ...(user.isSuperuser ? [await otherSuperuserWrite(deps, id)] : []),
        ],
        [{ tenant: PERSONAL_TENANT, action: 'user.changed', actor: by, subject: id, details }],
      );
      deps.news.userChanged(id);
      return true;
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
}

/** False when the account changed meanwhile: it may have been let in again, or was given something. */
async function removeEmptied(deps: AuthDependencies, id: UserId, departure: Departure): Promise<boolean> {
  const user = await deps.users.get(id);
  if (user === null) return true;
  if (user.isActive) return false;
  await handOverDatasets(deps, user, departure);
  await removeHoldings(deps, id);
  try {
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [
        deps.users.removeWrite(user),
        ...(await belongingsWrites(deps, id)),
        ...deps.eventLog.appendWrites({ tenant: PERSONAL_TENANT }, [{ type: 'user.deleted', subjectId: id, data: {} }]),
      ],
      [removalOf(user, departure.by)],
    );
  } catch (error) {
    if (isWriteConflict(error)) return false;
    throw error;
  }
  deps.news.userChanged(id);
  // Once more, for what was granted since: nobody can hold it now, but it would lie about.
  await removeHoldings(deps, id);
  return true;
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
