import { type AgentConnection, CONNECTION_STATES, connectionId } from '../../common/domain/agent-connection.ts';
import { keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import type { QaEntry, Session, TraceEntry } from '../../common/domain/session.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { isLimited, type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { isWriteConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { AgentConnections } from '../../common/records/auth/agent-connections.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import { resolveDatasets } from '../access/resolve-datasets.ts';
import { currentUser } from '../accounts/account.ts';
import type { AuthDependencies } from '../model.ts';
import type { AgentMode } from './agent-mode.ts';

export interface AgentConnectionDependencies extends AuthDependencies {
  readonly connections: AgentConnections;
  /** Sessions belong to the ingest service: they are read here to show them with their connections. */
  readonly sessions: Sessions;
  readonly sessionEntries: SessionEntries;
  /** Null: the process does not stop when its agents have gone. */
  readonly agentMode: AgentMode | null;
}

interface ConnectionRequest
  extends Pick<
    AgentConnection,
    'sessionName' | 'type' | 'memoryMode' | 'sessionId' | 'source' | 'originFunction' | 'metadata'
  > {
  readonly datasetIds: readonly string[];
  /** Names among the caller's own datasets. */
  readonly datasetNames: readonly string[];
}

/** Limit of the merged metadata of a connection: repeated registrations must not fill the store. */
const MAX_METADATA_BYTES = 64 * 1024;

/**
 * Registers the caller's session under its name. While it is active, a repeated registration replaces everything but the
 * metadata, which is merged; after it has ended a new one starts. Errors: `PermissionDeniedError` for a dataset that the
 * caller cannot read, `InvalidRequestError` for too much metadata.
 */
export async function registerConnection(
  deps: AgentConnectionDependencies,
  principal: Principal,
  request: ConnectionRequest,
): Promise<AgentConnection> {
  await requireReadable(deps, principal, request);
  const id = ownConnectionId(principal, request.sessionName);
  return retryOnConflict(async () => {
    await currentUser(deps, principal.id);
    const existing = await deps.connections.get(principal.id, id);
    const earlier = existing?.state === 'active' ? existing.metadata : {};
    const metadata = checkedMetadata({ ...earlier, ...request.metadata });
    const connection = { ...connectionOf(deps, principal, request), id, metadata };
    const { replaceWrite, insertWrite } = deps.connections;
    try {
      await deps.store.commit(SYSTEM_SCOPE, [
        // A connection must not outlive its user.
        deps.users.touchWrite(principal.id, { isActive: true }),
        existing === null ? insertWrite(connection) : replaceWrite({ ...connection, version: existing.version }),
      ]);
      deps.agentMode?.connectionRegistered();
      return connection;
    } catch (error) {
      if (isWriteConflict(error) && !(await currentUser(deps, principal.id)).isActive) {
        throw engramError('UserNotFoundError', 'The account no longer exists.');
      }
      throw error;
    }
  });
}

/**
 * Ends the caller's session of the name, if there is one. Returns how many active connections the caller has left on all
 * replicas, so that a program learns whether it was the last.
 */
export async function unregisterConnection(
  deps: AgentConnectionDependencies,
  principal: Principal,
  sessionName: string,
): Promise<number> {
  await deps.connections.deactivate(principal.id, ownConnectionId(principal, sessionName));
  return deps.connections.countActive(principal.id);
}

interface ConnectionQuery {
  /** Only connections of this user; none unless it is the caller or an agent of the caller. */
  readonly userId?: UserId | undefined;
  readonly state?: AgentConnection['state'] | 'unknown' | undefined;
  readonly activeOnly: boolean;
  readonly includeSources: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** A dataset that the caller can read, and the connections that use it. */
export interface MemorySource {
  readonly dataset: DatasetRef;
  readonly connectionIds: readonly string[];
}

export interface ConnectionList {
  readonly connections: readonly AgentConnection[];
  readonly sources: readonly MemorySource[];
  readonly total: number;
}

/** Lists the connections of the caller and its agents, newest first. */
export async function listConnections(
  deps: AgentConnectionDependencies,
  principal: Principal,
  query: ConnectionQuery,
): Promise<ConnectionList> {
  const visible = await visibleUsers(deps, principal);
  const users = query.userId === undefined ? visible : visible.filter((user) => user === query.userId);
  const states = CONNECTION_STATES.filter(
    (state) => (query.state === undefined || query.state === state) && (!query.activeOnly || state === 'active'),
  );
  const [page, sources] = await Promise.all([
    users.length === 0 || states.length === 0
      ? { connections: [], total: 0 }
      : deps.connections.page(users, { states, limit: query.limit, offset: query.offset }),
    query.includeSources ? memorySources(deps, principal, users) : [],
  ]);
  return { ...page, sources };
}

export interface ConnectionDetail {
  readonly connection: AgentConnection;
  readonly sources: readonly MemorySource[];
  readonly recent: RecentSession | null;
}

/**
 * Returns the active connection of a user that was registered last, or the one of the name, active or not. 404 when there is
 * none, and for users who are neither the caller nor an agent of the caller.
 */
export async function findConnection(
  deps: AgentConnectionDependencies,
  principal: Principal,
  { userId, sessionName }: { readonly userId: UserId; readonly sessionName?: string | undefined },
): Promise<ConnectionDetail> {
  const visible = await visibleUsers(deps, principal);
  const found = !visible.includes(userId)
    ? null
    : sessionName === undefined
      ? await deps.connections.latestActive(userId)
      : await deps.connections.get(userId, ownConnectionId({ ...principal, id: userId }, sessionName));
  const connection = found !== null && reachesTenant(principal, found.tenant) ? found : null;
  if (connection === null) throw new HttpError(404, { detail: 'connection not found' });
  const [sources, recent] = await Promise.all([
    memorySources(deps, principal, [userId]),
    recentSession(deps, principal, connection),
  ]);
  return { connection, sources, recent };
}

/**
 * The id of a connection. With a tenant's key it differs from that of the same name that the owner registers without the key.
 */
function ownConnectionId({ id, key }: Pick<Principal, 'id' | 'key'>, sessionName: string): string {
  return connectionId(sessionName, key?.tenant === undefined ? id : asId<UserId>(`${id}@${key.tenant}`));
}

async function visibleUsers({ users }: AgentConnectionDependencies, { id }: Principal): Promise<readonly UserId[]> {
  return [id, ...(await users.childAgents(id))];
}

async function memorySources(deps: AgentConnectionDependencies, principal: Principal, users: readonly UserId[]) {
  const [datasets, active] = await Promise.all([
    resolveDatasets(deps, { principal, permission: 'read' }),
    users.length === 0 ? [] : deps.connections.allActive(users),
  ]);
  const connectionsOf = byDataset(active);
  return datasets.map((dataset) => ({ dataset, connectionIds: connectionsOf(dataset) }));
}

/** Indexes connections by the dataset they use, once for all datasets: there may be thousands of both. */
function byDataset(connections: readonly AgentConnection[]): (dataset: DatasetRef) => readonly string[] {
  const found = new Map<string, Set<string>>();
  for (const { id, userId, tenant, datasets } of connections) {
    for (const dataset of datasets) {
      const place = dataset.id ?? ownName(userId, tenant, dataset.name);
      found.set(place, (found.get(place) ?? new Set()).add(id));
    }
  }
  return ({ id, ownerId, tenant, name }) => [
    ...new Set([...(found.get(id) ?? []), ...(found.get(ownName(ownerId, tenant, name)) ?? [])]),
  ];
}

/** A name refers to a dataset of the connection's user. */
function ownName(owner: UserId, tenant: TenantId, name: string): string {
  return `${owner} ${tenant} ${name}`;
}

async function requireReadable(
  deps: AgentConnectionDependencies,
  principal: Principal,
  { datasetIds, datasetNames }: ConnectionRequest,
): Promise<void> {
  const malformed = datasetIds.find((id) => !isUuid(id));
  if (malformed !== undefined) throw notAccessible(`Dataset ${malformed} not accessible.`);
  if (datasetIds.length > 0) await resolveDatasets(deps, { principal, permission: 'read', ids: datasetIds });
  if (datasetNames.length === 0) return;
  try {
    await resolveDatasets(deps, { principal, permission: 'read', names: datasetNames });
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'DatasetNotFoundError') throw error;
    throw notAccessible(
      `Not all of your datasets are accessible: ${datasetNames.map((name) => `'${name}'`).join(', ')}.`,
      error,
    );
  }
}

function notAccessible(message: string, cause?: unknown): Error {
  return engramError('PermissionDeniedError', message, { cause });
}

function connectionOf(
  { clock }: AgentConnectionDependencies,
  principal: Principal,
  { datasetIds, datasetNames, ...request }: ConnectionRequest,
): Omit<AgentConnection, 'id'> {
  const byId = datasetIds.map((id) => ({ id: asId<DatasetId>(id), name: null }));
  return {
    ...request,
    userId: principal.id,
    tenant: principal.tenant,
    datasets: [...byId, ...datasetNames.map((name) => ({ id: null, name }))],
    lastActiveAt: clock.now().toISOString(),
    state: 'active',
  };
}

function checkedMetadata(metadata: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES) return metadata;
  throw engramError('InvalidRequestError', `The metadata of a connection is limited to ${MAX_METADATA_BYTES} bytes.`);
}

/** The session of a connection, with its last entries. */
interface RecentSession {
  readonly session: Session;
  readonly traces: readonly TraceEntry[];
  readonly qas: readonly QaEntry[];
}

const SHOWN_ENTRIES = 20;

/**
 * Null when nothing was recorded. The caller has checked that the connection is visible; a limited key, which may register
 * any session, sees only sessions on its datasets.
 */
async function recentSession(
  { sessions, sessionEntries }: AgentConnectionDependencies,
  principal: Principal,
  { userId, tenant, sessionId }: AgentConnection,
): Promise<RecentSession | null> {
  if (sessionId === null) return null;
  const session = await sessions.get({ tenant }, { user: userId, session: sessionId });
  if (session === null || !mayRead(principal, session)) return null;
  const [traces, qas] = await Promise.all([
    sessionEntries.lastTraces({ tenant }, session, SHOWN_ENTRIES),
    sessionEntries.lastQas({ tenant }, session, SHOWN_ENTRIES),
  ]);
  return { session, traces, qas };
}

function mayRead(principal: Principal, { dataset }: Session): boolean {
  if (!isLimited(principal)) return true;
  return dataset !== null && keyAllows(principal, 'read') && keyReaches(principal, dataset);
}
