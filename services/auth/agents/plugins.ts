import { agentAddress } from '../../common/domain/agent-address.ts';
import { connectionId } from '../../common/domain/agent-connection.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { User } from '../../common/records/auth/users.ts';
import { deleteApiKey, insertApiKey } from '../keys/api-keys.ts';
import { type AgentConnectionDependencies, registerConnection } from './agent-connections.ts';
import { createAgent } from './agents.ts';

/** Programs that are connected with an agent of their own, in the order of the answers. */
const PLUGINS: readonly string[] = ['claude-code', 'desktop', 'codex', 'opencode', 'openclaw', 'mcp', 'api'];

/** Plugins by the type under which their sessions announce themselves. */
const BY_TYPE: Readonly<Record<string, string>> = {
  claude_code: 'claude-code',
  opencode: 'opencode',
  mcp: 'mcp',
  api: 'api',
  sdk: 'api',
};

/** Plugins by the beginning of the ids of sessions that they open under the account itself (auth-integrations.md §6.4). */
const BY_SESSION: readonly (readonly [prefix: string, key: string])[] = [
  ['cc_', 'claude-code'],
  ['codex_', 'codex'],
  ['opencode_', 'opencode'],
];

interface PluginState {
  readonly key: string;
  readonly connected: boolean;
  readonly agentId: string | null;
  readonly provisionedAt: string | null;
  readonly lastActiveAt: string | null;
  readonly sessionCount: number;
  /**
   * `identity`: it has an agent of the caller. `sessions-legacy`: sessions of the caller are called like its own.
   * `registry`: a session of its type is active.
   */
  readonly source: 'identity' | 'sessions-legacy' | 'registry' | null;
}

/** Sessions that are counted at most. */
const MOST_SESSIONS = 1000;

function requirePlugin(key: string): void {
  if (!PLUGINS.includes(key)) throw new HttpError(404, { detail: `Unknown plugin: '${key}'` });
}

const sessionName = (key: string) => `plugin:${key}`;

async function agentOf({ users }: AgentConnectionDependencies, { id }: Principal, key: string): Promise<User | null> {
  const address = agentAddress(key, id);
  return (await users.agentsOf(id)).find(({ email }) => email === address) ?? null;
}

/**
 * Gives a plugin an agent of the caller with a new key, shown once; its older keys end. 404 for an unknown plugin,
 * `PermissionDeniedError` for an agent.
 */
export async function provisionPlugin(deps: AgentConnectionDependencies, principal: Principal, key: string) {
  requirePlugin(key);
  if (principal.parentId !== null) throw engramError('PermissionDeniedError', 'An agent cannot provision plugins.');
  const known = await agentOf(deps, principal, key);
  const older = known === null ? [] : await deps.apiKeys.ofUser(known.id);
  const made = known === null ? await createAgent(deps, principal, key) : await newKeyOf(deps, known, key);
  for (const { id } of older) await deleteApiKey(deps, made.user.id, id);
  const agent: Principal = { ...principal, id: made.user.id, parentId: principal.id };
  await registerConnection(deps, agent, {
    sessionName: sessionName(key),
    type: key,
    memoryMode: 'unknown',
    sessionId: null,
    source: 'api_key',
    originFunction: null,
    metadata: { plugin_key: key },
    datasetIds: [],
    datasetNames: [],
  });
  return { pluginKey: key, agentId: made.user.id, apiKey: made.keyText, created: known === null };
}

async function newKeyOf(deps: AgentConnectionDependencies, user: User, key: string) {
  const limits = { label: null, expiresAt: null, permissions: null, datasets: null };
  const { text } = await insertApiKey(deps, user.id, { name: key, ...limits });
  return { user, keyText: text };
}

/** Ends the keys of a plugin; its agent and data stay. False: it was never provisioned. */
export async function revokePlugin(deps: AgentConnectionDependencies, principal: Principal, key: string) {
  requirePlugin(key);
  const agent = await agentOf(deps, principal, key);
  if (agent === null) return false;
  for (const { id } of await deps.apiKeys.ofUser(agent.id)) await deleteApiKey(deps, agent.id, id);
  await deps.connections.deactivate(agent.id, connectionId(sessionName(key), agent.id));
  return true;
}

/** The state of every plugin, for the caller. */
export async function pluginStates(
  deps: AgentConnectionDependencies,
  principal: Principal,
): Promise<readonly PluginState[]> {
  const agents = await deps.users.agentsOf(principal.id);
  const keys = await deps.apiKeys.ofUsers(agents.map(({ id }) => id));
  const active = await deps.connections.allActive([principal.id, ...agents.map(({ id }) => id)]);
  const scope = { tenant: principal.tenant };
  const ownSessions = await deps.sessions.ofUser(scope, principal.id, MOST_SESSIONS);
  return Promise.all(
    PLUGINS.map(async (key) => {
      const agent = agents.find(({ email }) => email === agentAddress(key, principal.id)) ?? null;
      const announced = active.filter(
        ({ type, sessionName: name }) => BY_TYPE[type] === key && name !== sessionName(key),
      );
      const used = keys.filter(({ userId }) => userId === agent?.id).flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
      const ofAgent = agent === null ? [] : await deps.sessions.ofUser(scope, agent.id, MOST_SESSIONS);
      const named = ownSessions.filter(({ session: { session } }) =>
        BY_SESSION.some(([prefix, of]) => of === key && session.startsWith(prefix)),
      );
      const times = [
        ...announced.map(({ lastActiveAt }) => lastActiveAt),
        ...named.map(({ session }) => session.lastActivityAt),
        ...used,
      ].toSorted();
      const source = agent === null ? sourceWithoutAgent(named.length, announced.length) : 'identity';
      return {
        key,
        connected: agent === null ? source !== null : keys.some(({ userId }) => userId === agent.id),
        agentId: agent?.id ?? null,
        provisionedAt: agent?.createdAt ?? null,
        lastActiveAt: times.at(-1) ?? null,
        sessionCount: Math.max(ofAgent.length, named.length),
        source,
      };
    }),
  );
}

function sourceWithoutAgent(namedSessions: number, announced: number): PluginState['source'] {
  if (namedSessions > 0) return 'sessions-legacy';
  return announced > 0 ? 'registry' : null;
}
