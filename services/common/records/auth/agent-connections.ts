import type { AgentConnection, ConnectedDataset, ConnectionState } from '../../domain/agent-connection.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type Collection,
  type DocumentStore,
  type Filter,
  insert,
  removeWhere,
  replace,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from '../base/find-all.ts';

type ConnectionDocument = Omit<AgentConnection, 'userId' | 'tenant' | 'datasets' | 'metadata' | 'id'> & {
  readonly connectionId: string;
  readonly userId: string;
  readonly tenant: string;
  readonly datasets: readonly { readonly id: string | null; readonly name: string | null }[];
  /** JSON text: a client's object may nest deeper than a store's documents. */
  readonly metadata: string;
};

/** The user's, not a tenant's: a parent sees those of its agents, whatever tenant they worked in. */
export const agentConnectionsCollection: Collection<ConnectionDocument> = {
  name: 'agent_connections',
  level: 'system',
  indexes: [
    { fields: ['userId', 'lastActiveAt'] },
    { fields: ['userId', 'state', 'lastActiveAt'] },
    { fields: ['state', 'lastActiveAt'] },
    { fields: ['userId', 'sessionId', 'lastActiveAt'] },
    { fields: ['tenant'] },
  ],
};

export interface StoredConnection extends AgentConnection {
  /** Of the document, for `replaceWrite`. */
  readonly version: number;
}

export interface ConnectionPage {
  readonly connections: readonly AgentConnection[];
  /** Without limit and offset. */
  readonly total: number;
}

/** Programs that announced themselves, with their state. */
export interface AgentConnections {
  get(user: UserId, id: string): Promise<StoredConnection | null>;
  /** The one active last. */
  latestActive(user: UserId): Promise<AgentConnection | null>;
  /** The active one that announced the session, the earliest of several. */
  ofSession(user: UserId, session: string): Promise<AgentConnection | null>;
  /** The same for many of a user's sessions at once, by session. */
  ofSessions(user: UserId, sessions: readonly string[]): Promise<ReadonlyMap<string, AgentConnection>>;
  /** Each of a user; unknown ones are left out. */
  getMany(keys: readonly { readonly user: UserId; readonly id: string }[]): Promise<readonly AgentConnection[]>;
  /** Newest `lastActiveAt` first. */
  page(
    users: readonly UserId[],
    query: { readonly states: readonly ConnectionState[]; readonly limit: number; readonly offset: number },
  ): Promise<ConnectionPage>;
  allActive(users: readonly UserId[]): Promise<readonly AgentConnection[]>;
  countActive(user: UserId): Promise<number>;
  /** Of anybody, registered at that time or later. */
  countActiveSince(time: Date): Promise<number>;
  /** `DuplicateKeyError` in the commit when the user has the id already. */
  insertWrite(connection: AgentConnection): Write;
  /** `VersionConflictError` in the commit when it changed since it was read. */
  replaceWrite(connection: StoredConnection): Write;
  /** Nothing happens when there is none. */
  deactivate(user: UserId, id: string): Promise<void>;
  removeAllOfUserWrite(user: UserId): Write;
  removeAllOfTenantWrite(tenant: TenantId): Write;
}

/** Values of one `in` condition. */
const SESSIONS_AT_ONCE = 500;

export function createAgentConnections(store: DocumentStore): AgentConnections {
  const collection = agentConnectionsCollection;
  const newestFirst = [{ field: 'lastActiveAt', descending: true }] as const;
  return {
    async get(user, id) {
      const stored = await store.get(SYSTEM_SCOPE, collection, documentId(user, id));
      return stored === null ? null : { ...connectionOf(stored), version: stored.version };
    },
    async latestActive(user) {
      const where = { userId: user, state: 'active' };
      const { items } = await store.find(SYSTEM_SCOPE, collection, { where, sort: newestFirst, limit: 1 });
      return items[0] === undefined ? null : connectionOf(items[0]);
    },
    async ofSession(user, session) {
      const where = { userId: user, sessionId: session, state: 'active' };
      const sort = [{ field: 'userId' as const }, { field: 'sessionId' as const }, { field: 'lastActiveAt' as const }];
      const { items } = await store.find(SYSTEM_SCOPE, collection, { where, sort, limit: 1 });
      return items[0] === undefined ? null : connectionOf(items[0]);
    },
    async ofSessions(user, sessions) {
      const first = new Map<string, AgentConnection>();
      for (const slice of slices(sessions, SESSIONS_AT_ONCE)) {
        const where = { userId: user, sessionId: { in: slice }, state: 'active' };
        const sort = [{ field: 'lastActiveAt' as const }];
        const { items } = await store.find(SYSTEM_SCOPE, collection, { where, sort, limit: 1000 });
        for (const connection of items.map(connectionOf)) {
          const { sessionId } = connection;
          if (sessionId !== null && !first.has(sessionId)) first.set(sessionId, connection);
        }
      }
      return first;
    },
    async getMany(keys) {
      const ids = keys.map(({ user, id }) => documentId(user, id));
      return (await store.getMany(SYSTEM_SCOPE, collection, ids)).map(connectionOf);
    },
    async page(users, { states, limit, offset }) {
      const where: Filter<ConnectionDocument> = { userId: { in: users }, state: { in: states } };
      const [{ items }, total] = await Promise.all([
        store.find(SYSTEM_SCOPE, collection, { where, sort: newestFirst, limit, offset }),
        store.count(SYSTEM_SCOPE, collection, where),
      ]);
      return { connections: items.map(connectionOf), total };
    },
    async allActive(users) {
      const where: Filter<ConnectionDocument> = { userId: { in: users }, state: 'active' };
      return (await findAll(store, SYSTEM_SCOPE, collection, { where })).map(connectionOf);
    },
    countActive: (user) => store.count(SYSTEM_SCOPE, collection, { userId: user, state: 'active' }),
    countActiveSince: (time) =>
      store.count(SYSTEM_SCOPE, collection, { state: 'active', lastActiveAt: { atLeast: time.toISOString() } }),
    insertWrite: (connection) =>
      insert(collection, documentId(connection.userId, connection.id), documentOf(connection)),
    replaceWrite: (connection) =>
      replace(collection, documentId(connection.userId, connection.id), documentOf(connection), connection.version),
    async deactivate(user, id) {
      const change = { where: { state: 'active' }, set: { state: 'inactive' } } as const;
      await store.commit(SYSTEM_SCOPE, [update(collection, documentId(user, id), change)]);
    },
    removeAllOfTenantWrite: (tenant) => removeWhere(agentConnectionsCollection, { tenant }),
    removeAllOfUserWrite: (user) => removeWhere(collection, { userId: user }),
  };
}

/** Two users' ids of the wire may be equal by chance. */
function documentId(user: UserId, id: string): string {
  return `${user}/${id}`;
}

function documentOf(connection: AgentConnection): ConnectionDocument {
  const { id, sessionName, userId, tenant, type, memoryMode, sessionId, datasets } = connection;
  const { lastActiveAt, state, source, originFunction, metadata } = connection;
  return {
    ...{ connectionId: id, sessionName, userId, tenant, type, memoryMode, sessionId, datasets },
    ...{ lastActiveAt, state, source, originFunction, metadata: JSON.stringify(metadata) },
  };
}

function connectionOf({ value }: Stored<ConnectionDocument>): AgentConnection {
  const { connectionId, userId, tenant, datasets, metadata, ...fields } = value;
  return {
    ...fields,
    id: connectionId,
    userId: asId(userId),
    tenant: asId(tenant),
    datasets: datasets as readonly ConnectedDataset[],
    metadata: JSON.parse(metadata) as JsonObject,
  };
}
