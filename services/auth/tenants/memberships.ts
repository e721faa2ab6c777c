import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nameConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { requireTenant } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

export interface Membership {
  readonly tenant: TenantId;
  readonly user: UserId;
}

/**
 * Makes the user a member; its current tenant does not change. The caller has checked that `by` may. Errors:
 * `EntityNotFoundError` for the user, `TenantNotFoundError`, `EntityAlreadyExistsError` for a member.
 */
export async function joinTenant(deps: AuthDependencies, { tenant, user }: Membership, by: UserId | null) {
  await retryOnConflict(async () => {
    await Promise.all([requireUser(deps, user), requireTenant(deps, tenant)]);
    const writes = [
      // Both are touched: a membership that outlived them could never be removed.
      deps.tenants.changeWrite(tenant, {}),
      deps.users.touchWrite(user),
      deps.memberships.insertWrite(tenant, user, deps.clock.now().toISOString()),
      ...deps.eventLog.appendWrites({ tenant }, [{ type: 'membership.added', subjectId: user, data: {} }]),
    ];
    const entry = { tenant, action: 'membership.added', actor: by, subject: user };
    await nameConflict(deps.audit.commit({ tenant }, writes, [entry]), { duplicate: alreadyMember });
    deps.notify.accessChanged(tenant, [user]);
  });
}

/**
 * Ends the membership with all that the user and its agents have in the tenant: roles, grants, capabilities, the current
 * tenant, and the API keys of agents that were created there. The accounts and datasets stay. The caller has checked that
 * `by` may. Errors: `TenantNotFoundError`, `EntityNotFoundError` for a non-member, 400 for the owner.
 */
export async function leaveTenant(deps: AuthDependencies, { tenant, user }: Membership, by: UserId | null) {
  await retryOnConflict(async () => {
    const [{ ownerId }, leaving, isMember] = await Promise.all([
      requireTenant(deps, tenant),
      requireUser(deps, user),
      deps.memberships.has(tenant, user),
    ]);
    if (!isMember) throw engramError('EntityNotFoundError', 'User not found in this tenant.');
    if (ownerId === user) throw ownerStays();
    // The owner of the tenant stays a member, even if it is an agent of the user.
    const agents = (await deps.users.agentsOf(user)).filter(({ id }) => id !== ownerId);
    const evicted = agents.filter((agent) => agent.tenant === tenant);
    const everyone = [user, ...agents.map(({ id }) => id)];
    const writes = [
      // Written in any case, so that a concurrent join, creation of an agent or switch of tenant conflicts.
      deps.users.replaceWrite(outside(leaving, tenant)),
      ...evicted.flatMap((agent) => evictionOf(deps, agent, tenant)),
      ...everyone.flatMap((each) => [
        deps.memberships.removeWrite(tenant, each),
        deps.roleMembers.removeAllOfUserWrite(each, tenant),
        deps.grants.removeAllOfHolderWrite(each),
        deps.capabilities.removeAllOfHolderWrite(each),
      ]),
      ...deps.eventLog.appendWrites({ tenant }, [{ type: 'membership.removed', subjectId: user, data: {} }]),
    ];
    // Agents that were created there lost their keys.
    const details = { agents: evicted.map(({ id }) => id) };
    const entry = { tenant, action: 'membership.removed', actor: by, subject: user };
    await deps.audit.commit({ tenant }, writes, [evicted.length === 0 ? entry : { ...entry, details }]);
    for (const each of everyone) deps.notify.userChanged(each);
    // An agent's grants count for its parent too.
    deps.notify.accessChanged(tenant, leaving.parentId === null ? everyone : [...everyone, leaving.parentId]);
  });
}

export async function requireUser({ users }: AuthDependencies, id: UserId): Promise<User> {
  const user = await users.get(id);
  if (user === null) throw engramError('EntityNotFoundError', `Could not find user: ${id}`);
  return user;
}

function outside(user: User, tenant: TenantId): User {
  return user.tenant === tenant ? { ...user, tenant: PERSONAL_TENANT } : user;
}

function evictionOf({ users, apiKeys }: AuthDependencies, agent: User, tenant: TenantId): readonly Write[] {
  return [users.replaceWrite(outside(agent, tenant)), apiKeys.removeAllWrite(agent.id)];
}

function alreadyMember() {
  return engramError('EntityAlreadyExistsError', 'User is already part of the tenant.');
}

/** A validation error with another status than that class has elsewhere. */
function ownerStays(): HttpError {
  return new HttpError(400, {
    detail: 'Cannot remove the tenant owner from their own tenant. [CogneeValidationError]',
  });
}
