import type { TenantId } from '../../domain/brand.ts';
import type { GraphStore } from '../../ports/graph-store.ts';
import { type Databases, openDatabases } from './databases.ts';
import { createEvidenceReader } from './evidence-reader.ts';
import { createEvidenceWriter } from './evidence-writer.ts';
import { createGraphView } from './graph-view.ts';
import { createNeo4jClient, type Neo4jConnection } from './neo4j-client.ts';
import { createCypherRunner } from './run-cypher.ts';
import { readSubgraph } from './subgraph.ts';

export interface Neo4jGraphStoreOptions extends Neo4jConnection {
  /**
   * The database of a Dedicated tenant; null for the common one. Without effect where the edition has one database only:
   * `isolationOf` tells.
   */
  readonly databaseOf?: (tenant: TenantId) => string | null;
  /** Who runs the queries of clients: a user that may only read, where the edition knows such. Default: the one above. */
  readonly reader?: { readonly user: string; readonly password: string };
}

export interface Neo4jGraphStore extends GraphStore {
  readonly server: Pick<Databases, 'version' | 'edition' | 'isolationOf'>;
  readonly cypher: NonNullable<GraphStore['cypher']>;
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
  const view = createGraphView(client, databases);
  const reader = createEvidenceReader(client, databases);
  const writer = createEvidenceWriter(client, databases, view);
  return {
    capabilities: { cypher: true },
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
}
