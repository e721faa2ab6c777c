import { CONNECTION_STATES } from '../../common/domain/agent-connection.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { uuid5 } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { isWriteConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import { presentConnection } from '../presenters/agent-connection.ts';
import type { StoredConfiguration } from '../repositories/stored-configurations.ts';

/** All configurations of a user are returned in one answer: limits what a client has to take. */
const MAX_BYTES = 256 * 1024;
const MAX_PER_USER = 100;

/** Stores the object under a name of the caller and replaces an earlier one. 413 `PayloadTooLargeError` above the limits. */
export async function storeConfiguration(
  deps: AuthDependencies,
  { id: ownerId }: Principal,
  { name, configuration }: { readonly name: string; readonly configuration: JsonObject },
): Promise<void> {
  const { configurations, users, audit, clock, ids } = deps;
  if (Buffer.byteLength(JSON.stringify(configuration)) > MAX_BYTES) {
    throw engramError('PayloadTooLargeError', `A configuration may have ${MAX_BYTES / 1024} KiB of JSON at most.`);
  }
  await retryOnConflict(async () => {
    const before = await configurations.find(ownerId, name);
    const at = clock.now().toISOString();
    const id = before?.id ?? ids.uuid();
    let write: Write;
    if (before === null) {
      await requireRoom(deps, ownerId);
      write = configurations.insertWrite({ id, ownerId, name, configuration, createdAt: at });
    } else write = configurations.replaceWrite({ ...before, configuration, updatedAt: at });
    const entry = { tenant: PERSONAL_TENANT, action: 'configuration.stored', actor: ownerId, subject: id };
    try {
      // Touched, so that nothing is stored for an account that is deleted meanwhile.
      const writes = [users.touchWrite(ownerId, { isActive: true }), write];
      await audit.commit({ tenant: PERSONAL_TENANT }, writes, [{ ...entry, details: { name } }]);
    } catch (error) {
      // Another request stored it at the same time, and this one is repeated; or the account is gone.
      if (isWriteConflict(error) && (await users.get(ownerId))?.isActive !== true) {
        throw engramError('UserNotFoundError', 'User not found.');
      }
      throw error;
    }
  });
}

/** A configuration as it is listed; those of registered agent connections are added to the stored ones. */
export type ListedConfiguration = Omit<StoredConfiguration, 'version'>;

/** Null unless it belongs to the caller or to one of its agents. */
export async function readConfiguration(
  deps: AuthDependencies,
  caller: Principal,
  id: string,
): Promise<ListedConfiguration | null> {
  const owners = await visibleOwners(deps, caller);
  const found = await deps.configurations.get(id);
  if (found !== null && !owners.includes(found.ownerId)) return null;
  if (found !== null && found.name !== AGENT_CONFIGURATION) return found;
  const owner = found?.ownerId ?? owners.find((one) => agentConfigurationId(one) === id);
  if (owner === undefined) return null;
  const [withAgents] = await withConnections(deps, caller, { owners: [owner], stored: found === null ? [] : [found] });
  return withAgents ?? null;
}

/** Lists the configurations of the caller and its agents, by owner and name. */
export async function listConfigurations(
  deps: AuthDependencies,
  caller: Principal,
): Promise<readonly ListedConfiguration[]> {
  const owners = await visibleOwners(deps, caller);
  return withConnections(deps, caller, { owners, stored: await deps.configurations.ofUsers(owners) });
}

async function visibleOwners({ users }: AuthDependencies, { id }: Principal): Promise<readonly UserId[]> {
  return [id, ...(await users.childAgents(id))];
}

/** Name under which the contract lists registered connections (proto/http/auth-integrations.md §4.2). */
const AGENT_CONFIGURATION = 'agent_configuration';
const MAX_CONNECTIONS = 1000;

/** The id of the configuration of an owner who stored nothing under the name. */
function agentConfigurationId(owner: UserId): string {
  return uuid5(owner, AGENT_CONFIGURATION);
}

/** Adds the connections of the owners, newest first, as `agents` of their `agent_configuration`. */
async function withConnections(
  { connections }: AuthDependencies,
  caller: Principal,
  { owners, stored }: { readonly owners: readonly UserId[]; readonly stored: readonly ListedConfiguration[] },
): Promise<readonly ListedConfiguration[]> {
  const found = await connections.page(owners, { states: CONNECTION_STATES, limit: MAX_CONNECTIONS, offset: 0 });
  const visible = found.connections.filter(({ tenant }) => reachesTenant(caller, tenant));
  const byOwner = Map.groupBy(visible, ({ userId }) => userId);
  const listed = new Map(stored.map((one) => [`${one.ownerId}/${one.name}`, one]));
  for (const [ownerId, own] of byOwner) {
    const key = `${ownerId}/${AGENT_CONFIGURATION}`;
    const times = own.map(({ lastActiveAt }) => lastActiveAt).toSorted();
    const before = listed.get(key) ?? {
      id: agentConfigurationId(ownerId),
      ownerId,
      name: AGENT_CONFIGURATION,
      configuration: {},
      createdAt: times.at(0) ?? '',
      updatedAt: times.at(-1) ?? null,
    };
    const agents = Object.fromEntries(own.map((connection) => [connection.id, presentConnection(connection)]));
    listed.set(key, { ...before, configuration: { ...before.configuration, agents } as JsonObject });
  }
  return [...listed].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, configuration]) => configuration);
}

async function requireRoom({ configurations }: AuthDependencies, owner: UserId): Promise<void> {
  if ((await configurations.count(owner)) < MAX_PER_USER) return;
  throw engramError(
    'PayloadTooLargeError',
    `${MAX_PER_USER} configurations are stored, which is the maximum per user.`,
  );
}
