import type { TenantId } from '../../../kernel/brand.ts';
import { engramError } from '../../../kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../../kernel/scope.ts';
import type { GraphStore } from '../../ports/graph-store.ts';
import { readSeenEdges, readSeenNodes } from '../../ports/read-seen.ts';
import { requireOwn } from '../../rules/installation.ts';
import { storedScope } from '../../rules/stored-scope.ts';
import { type Databases, openDatabases } from './databases.ts';
import { createEvidenceReader, DEFAULT_PER_NODE } from './evidence-reader.ts';
import { createEvidenceWriter } from './evidence-writer.ts';
import { createGraphView } from './graph-view.ts';
import { createNeo4jClient, type Neo4jClient, type Neo4jConnection } from './neo4j-client.ts';
import { createCypherRunner } from './run-cypher.ts';
import { readSubgraph } from './subgraph.ts';

export interface Neo4jGraphStoreOptions extends Neo4jConnection {
  /**
   * The database of a Dedicated tenant; null for the common one. Without effect where the edition has one database only:
   * `isolationOf` tells.
   */
  readonly databaseOf?: (tenant: TenantId) => string | null;
  /**
   * Keeps everything apart from other installations in the same database, and them from it: letters, digits, `_` and `-`.
   * Must not change. Default: none, as where the database is one's own.
   */
  readonly namespace?: string;
  /** Installation that owns the namespace; processes of another one are refused. Absent: not checked. */
  readonly installation?: string;
  /** User that runs the queries of clients: a read-only one where the edition has such users. Default: the one above. */
  readonly reader?: { readonly user: string; readonly password: string };
}

export interface Neo4jGraphStore extends GraphStore {
  readonly server: Pick<Databases, 'version' | 'edition' | 'isolationOf'>;
  /** Rejects when the server does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Rejects with a `ServiceUnavailableError` that names the address when the server cannot be reached (retryable), refuses
 * the credentials or is too old (not retryable).
 */
export async function openNeo4jGraphStore(options: Neo4jGraphStoreOptions): Promise<Neo4jGraphStore> {
  const client = createNeo4jClient(options);
  const queryClient = options.reader === undefined ? client : createNeo4jClient({ ...options, ...options.reader });
  const close = async () => {
    await Promise.all([client.close(), queryClient.close()]);
  };
  const databases = await openDatabases(client, options.databaseOf ?? (() => null)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const { namespace, installation } = options;
  if (namespace !== undefined && installation !== undefined) {
    await claimNamespace(client, namespace, installation).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  }
  const view = createGraphView(client, databases);
  const reader = createEvidenceReader(client, databases);
  const writer = createEvidenceWriter(client, databases, view);
  const store: Neo4jGraphStore = {
    server: databases,
    async check() {
      await client.read(null, (run) => run('RETURN 1'), { timeoutMs: 5_000 });
    },
    close,
    upsert: writer.upsert,
    remove: writer.remove,
    drop: writer.drop,
    count: (scope, filter = {}) => writer.count(scope, filter.item ?? null),
    nodes: (scope, ids, { perNode } = {}) => reader.nodes(scope, ids, perNode),
    neighbours: reader.neighbours,
    scanNodes: reader.scanNodes,
    scanEdges: reader.scanEdges,
    async subgraph(scope, query, signal) {
      signal?.throwIfAborted();
      if (query.seeds.length === 0) return [];
      const database = await databases.of(scope.tenant);
      return client.read(database, (run) => readSubgraph(run, scope, query), { signal });
    },
    cypher: createCypherRunner(queryClient, databases, view),
  };
  return inNamespace(store, options.namespace ?? null);
}

/** Notes the installation as the owner of the namespace unless there is one; rejects when that is another. */
async function claimNamespace(client: Neo4jClient, namespace: string, installation: string): Promise<void> {
  const rows = await client.write(null, (run) =>
    run<{ readonly id: string }>(
      'MERGE (owner:EngramInstallation {namespace: $namespace}) ON CREATE SET owner.id = $installation RETURN owner.id AS id',
      { namespace, installation },
    ),
  );
  const what = `The namespace ${namespace} of Neo4j at ${client.address.url}`;
  requireOwn({ what, setting: 'ENGRAM_NEO4J_NAMESPACE' }, installation, rows[0]?.id ?? installation);
}

/** The same under scopes that only this namespace has, and without what they withhold. */
function inNamespace(store: Neo4jGraphStore, namespace: string | null): Neo4jGraphStore {
  if (namespace !== null && !/^[\w-]+$/.test(namespace)) {
    throw engramError(
      'CogneeSystemError',
      `"${namespace}" cannot be a namespace in Neo4j: letters, digits, _ and - can`,
    );
  }
  const stored = (scope: DatasetScope): DatasetScope =>
    namespace === null ? datasetScope(scope.tenant, scope.dataset) : storedScope(namespace, scope);
  return {
    ...store,
    upsert: (scope, evidence) => store.upsert(stored(scope), evidence),
    nodes: (scope, ids, { perNode = DEFAULT_PER_NODE } = {}) =>
      readSeenNodes(scope, ids, perNode, (some, limit) => store.nodes(stored(scope), some, { perNode: limit })),
    neighbours: (scope, ids, options, signal) =>
      readSeenEdges(scope, ids, options, (some, wider) => store.neighbours(stored(scope), some, wider, signal)),
    subgraph: (scope, query, signal) => store.subgraph(stored(scope), query, signal),
    scanNodes: (scope, query) => store.scanNodes(stored(scope), query),
    scanEdges: (scope, query) => store.scanEdges(stored(scope), query),
    remove: (scope, selection) => store.remove(stored(scope), selection),
    drop: (scope) => store.drop(stored(scope)),
    count: (scope, filter) => store.count(stored(scope), filter),
    cypher: (scope, query, signal) => store.cypher(stored(scope), query, signal),
  };
}
