import type { AgentConnection, ConnectionState } from '../../domain/agent-connection.ts';
import type { UserId } from '../../kernel/brand.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Filter, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type ConnectionDocument = Omit<AgentConnection, 'metadata' | 'id'> & {
  readonly connectionId: string;
  /** JSON text: a client's object may nest deeper than a store's documents. */
  readonly metadata: string;
};

/** The user's, not a tenant's: a parent sees those of its agents, whatever tenant they worked in. */
export const agentConnectionsCollection: OwnedCollection<ConnectionDocument> = {
  name: 'agent_connections',
  level: 'system',
  owner: 'auth',
  readers: ['ingest'],
  belongsTo: { user: 'userId', tenant: 'tenant' },
  indexes: [
    { fields: ['userId', 'lastActiveAt'] },
    { fields: ['userId', 'state', 'lastActiveAt'] },
    { fields: ['state', 'lastActiveAt'] },
    { fields: ['userId', 'sessionId', 'lastActiveAt'] },
    { fields: ['tenant'] },
  ],
};

interface StoredConnection extends AgentConnection {
  /** Version of the document, for `replaceWrite`. */
  readonly version: number;
}

interface ConnectionPage {
  readonly connections: readonly AgentConnection[];
  /** Without limit and offset. */
  readonly total: number;
}

export type AgentConnections = ReturnType<typeof createAgentConnections>;

/** Programs that announced themselves, with their state. */
export function createAgentConnections(store: DocumentStore) {
  const records = repository(store, agentConnectionsCollection, connectionOf);
  const collection = agentConnectionsCollection;
  const newestFirst = [{ field: 'lastActiveAt', descending: true }] as const;
  return {
    async get(user: UserId, id: string): Promise<StoredConnection | null> {
      const stored = await store.get(SYSTEM_SCOPE, collection, documentId(user, id));
      return stored === null ? null : { ...connectionOf(stored), version: stored.version };
    },
    /** The one active last. */
    async latestActive(user: UserId): Promise<AgentConnection | null> {
      const where = { userId: user, state: 'active' };
      return records.first(SYSTEM_SCOPE, { where, sort: newestFirst });
    },
    /** The active one that announced the session, the earliest of several. */
    async ofSession(user: UserId, session: string): Promise<AgentConnection | null> {
      const where = { userId: user, sessionId: session, state: 'active' };
      const sort = [{ field: 'userId' as const }, { field: 'sessionId' as const }, { field: 'lastActiveAt' as const }];
      return records.first(SYSTEM_SCOPE, { where, sort });
    },
    /** The same for many of a user's sessions at once, by session. */
    async ofSessions(user: UserId, sessions: readonly string[]): Promise<ReadonlyMap<string, AgentConnection>> {
      const first = new Map<string, AgentConnection>();
      const found = await records.allOf(SYSTEM_SCOPE, sessions, (some) => ({
        where: { userId: user, sessionId: { in: some }, state: 'active' },
        sort: [{ field: 'lastActiveAt' }],
      }));
      for (const connection of found) {
        const { sessionId } = connection;
        if (sessionId !== null && !first.has(sessionId)) first.set(sessionId, connection);
      }
      return first;
    },
    /** Each of a user; unknown ones are left out. */
    getMany: (keys: readonly { readonly user: UserId; readonly id: string }[]) =>
      records.getMany(
        SYSTEM_SCOPE,
        keys.map(({ user, id }) => documentId(user, id)),
      ),
    /** Newest `lastActiveAt` first. */
    async page(
      users: readonly UserId[],
      {
        states,
        ...page
      }: { readonly states: readonly ConnectionState[]; readonly limit: number; readonly offset: number },
    ): Promise<ConnectionPage> {
      const where: Filter<ConnectionDocument> = { userId: { in: users }, state: { in: states } };
      const [{ items }, total] = await Promise.all([
        records.page(SYSTEM_SCOPE, { where, sort: newestFirst, ...page }),
        records.count(SYSTEM_SCOPE, where),
      ]);
      return { connections: items, total };
    },
    allActive: (users: readonly UserId[]) =>
      records.all(SYSTEM_SCOPE, { where: { userId: { in: users }, state: 'active' } }),
    countActive: (user: UserId) => records.count(SYSTEM_SCOPE, { userId: user, state: 'active' }),
    /** Number of active connections of all users since that time. */
    countActiveSince: (time: Date) =>
      records.count(SYSTEM_SCOPE, { state: 'active', lastActiveAt: { atLeast: time.toISOString() } }),
    /** `DuplicateKeyError` in the commit when the user has the id already. */
    insertWrite: (connection: AgentConnection) =>
      records.insertWrite(documentId(connection.userId, connection.id), documentOf(connection)),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ version, ...connection }: StoredConnection) =>
      records.replaceWrite(documentId(connection.userId, connection.id), documentOf(connection), version),
    /** Nothing happens when there is none. */
    async deactivate(user: UserId, id: string): Promise<void> {
      const change = { where: { state: 'active' }, set: { state: 'inactive' } } as const;
      await store.commit(SYSTEM_SCOPE, [records.updateWrite(documentId(user, id), change)]);
    },
  };
}

/** Two users' ids of the wire may be equal by chance. */
function documentId(user: UserId, id: string): string {
  return `${user}/${id}`;
}

function documentOf({ id, metadata, ...fields }: AgentConnection): ConnectionDocument {
  return { ...fields, connectionId: id, metadata: JSON.stringify(metadata) };
}

function connectionOf({ value }: Stored<ConnectionDocument>): AgentConnection {
  const { connectionId: id, metadata, ...fields } = value;
  return { ...fields, id, metadata: JSON.parse(metadata) as JsonObject };
}
