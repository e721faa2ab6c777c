import { agentAddress, agentSlug } from '../../common/domain/agent-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nameConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { ApiKey } from '../../common/records/auth/api-keys.ts';
import { type NewUser, NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { currentUser } from '../accounts/account.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import { keyCreated, newApiKey } from '../keys/api-keys.ts';
import type { AuthDependencies } from '../model.ts';

/** Agents of a user leave a tenant with it in one commit: more could make that commit impossible. */
export const MAX_AGENTS = 1000;

/** An account without a password that belongs to another one, and its first key. */
export interface Agent {
  readonly user: Pick<User, 'id' | 'email'>;
  /** Null when it has no key left. */
  readonly key: ApiKey | null;
}

/**
 * Creates an agent of the caller with a key, in the caller's current tenant. The agent is not a member itself: its work there
 * ends with the caller's membership. Errors: `PermissionDeniedError` for an agent, 409 for a name that the caller uses
 * already, `InvalidRequestError` for a name that no address can hold and for one agent too many.
 */
export async function createAgent(
  deps: AuthDependencies,
  principal: Principal,
  name: string,
): Promise<Agent & { readonly keyText: string }> {
  if (principal.parentId !== null) throw engramError('PermissionDeniedError', 'An agent cannot create agents.');
  await requireNoKeyBudget(deps, principal);
  const { slug, problem } = agentSlug(name);
  if (problem !== undefined) throw engramError('InvalidRequestError', problem);
  const scope = { tenant: PERSONAL_TENANT };
  return retryOnConflict(async () => {
    const parent = await currentUser(deps, principal.id);
    if (!parent.isActive) throw engramError('UserNotFoundError', 'The account no longer exists.');
    if ((await deps.users.childAgents(parent.id)).length >= MAX_AGENTS) {
      throw engramError('InvalidRequestError', `An account has ${MAX_AGENTS} agents at most.`);
    }
    const user = agentOf(deps, parent, slug);
    const { key, text } = newApiKey(deps, user.id, { name: slug });
    const details = { email: user.email, parent: parent.id };
    const writes = [
      // Written in any case, so that a concurrent end of the parent's account or membership conflicts.
      deps.users.replaceWrite(parent),
      deps.users.insertWrite(user),
      deps.apiKeys.insertWrite(key),
      ...deps.eventLog.appendWrites(scope, [{ type: 'user.registered', subjectId: user.id, data: {} }]),
    ];
    const entry = { tenant: PERSONAL_TENANT, action: 'agent.created', actor: principal.id, subject: user.id, details };
    await nameConflict(deps.audit.commit(scope, writes, [entry, keyCreated(key, principal.id)]), {
      duplicate: () => new HttpError(409, { detail: `Agent with name '${name}' already exists` }),
    });
    return { user, key, keyText: text };
  });
}

/** Lists the agents of a user, oldest first. */
export async function listAgents(deps: AuthDependencies, parent: UserId): Promise<readonly Agent[]> {
  const users = await deps.users.agentsOf(parent);
  const keys = await deps.apiKeys.ofUsers(users.map(({ id }) => id));
  return users.map((user) => ({ user, key: keys.find(({ userId }) => userId === user.id) ?? null }));
}

/**
 * Returns an agent of the caller. Errors: `EntityNotFoundError` for an unknown id, `PermissionDeniedError` for an account
 * that is not an agent of the caller.
 */
export async function getAgent(deps: AuthDependencies, parent: UserId, id: UserId): Promise<Agent> {
  const user = await deps.users.get(id);
  if (user === null) throw engramError('EntityNotFoundError', `Could not find user: ${id}`);
  if (user.parentId !== parent) throw engramError('PermissionDeniedError', 'This is no agent of yours.');
  const [key = null] = await deps.apiKeys.ofUser(id);
  return { user, key };
}

/** Deletes an agent with its keys and connections; its datasets go to its parent. Errors as `getAgent`. */
export async function deleteAgent(deps: AuthDependencies, parent: UserId, id: UserId): Promise<void> {
  await getAgent(deps, parent, id);
  await deleteUser(deps, id, parent);
}

function agentOf({ clock, ids }: AuthDependencies, parent: User, slug: string): NewUser {
  return {
    id: asId<UserId>(ids.uuid()),
    email: agentAddress(slug, parent.id),
    passwordHash: NO_PASSWORD,
    isActive: true,
    isSuperuser: false,
    isVerified: false,
    tenant: parent.tenant,
    parentId: parent.id,
    createdAt: clock.now().toISOString(),
  };
}
