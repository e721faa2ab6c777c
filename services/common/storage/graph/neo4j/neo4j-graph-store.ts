import { engramError } from '../../../kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../../kernel/scope.ts';
import type { GraphStore } from '../../ports/graph-store.ts';
import { DEFAULT_PER_NODE, readSeenEdges, readSeenNodes } from '../../ports/read-seen.ts';
import { requireOwn } from '../../rules/installation.ts';
import { storedScope } from '../../rules/stored-scope.ts';
import { createEvidenceReader } from './evidence-reader.ts';
import { createEvidenceWriter } from './evidence-writer.ts';
import { createGraphView } from './graph-view.ts';
import { createNeo4jClient, type Neo4jClient, type Neo4jConnection } from './neo4j-client.ts';
import { createCypherRunner } from './run-cypher.ts';
import { prepareServer } from './schema.ts';

export interface Neo4jGraphStoreOptions extends Neo4jConnection {
  /**
   * Keeps everything apart from other installations in the same database, and them from it: letters, digits, `_` and `-`.
   * Must not change. Default: none, as where the database is one's own.
   */
  readonly namespace?: string;
  /** Installation that owns the namespace; processes of another one are refused. Absent: not checked. */
  readonly installation?: string;
}

export interface Neo4jGraphStore extends Required<GraphStore> {
  /** Rejects when the server does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Rejects with a `ServiceUnavailableError` that names the address when the server cannot be reached (retryable), refuses
 * the credentials or is too old (not retryable).
 */
export async function openNeo4jGraphStore(options: Neo4jGraphStoreOptions): Promise<Neo4jGraphStore> {
  const { namespace = null, installation } = options;
  const stored = scopesOf(namespace);
  const client = createNeo4jClient(options);
  try {
    await prepareServer(client);
    if (namespace !== null && installation !== undefined) await claimNamespace(client, namespace, installation);
  } catch (error) {
    await client.close();
    throw error;
  }
  const view = createGraphView(client);
  const reader = createEvidenceReader(client);
  const writer = createEvidenceWriter(client, view);
  const cypher = createCypherRunner(client, view);
  return {
    async check() {
      await client.read((run) => run('RETURN 1'), { timeoutMs: 5_000 });
    },
    close: client.close,
    upsert: (scope, evidence) => writer.upsert(stored(scope), evidence),
    remove: (scope, selection) => writer.remove(stored(scope), selection),
    drop: (scope) => writer.drop(stored(scope)),
    count: (scope, filter = {}) => writer.count(stored(scope), filter.item ?? null),
    nodes: (scope, ids, { perNode = DEFAULT_PER_NODE } = {}) =>
      readSeenNodes(scope, ids, perNode, (some, limit) => reader.nodes(stored(scope), some, limit)),
    neighbours: (scope, ids, options, signal) =>
      readSeenEdges(scope, ids, options, (some, wider) => reader.neighbours(stored(scope), some, wider, signal)),
    pathsOver: (scope, ids, query, signal) => reader.pathsOver(stored(scope), ids, query, signal),
    scanNodes: (scope, query) => reader.scanNodes(stored(scope), query),
    scanEdges: (scope, query) => reader.scanEdges(stored(scope), query),
    cypher: (scope, query, signal) => cypher(stored(scope), query, signal),
  };
}

/** Notes the installation as the owner of the namespace unless there is one; rejects when that is another. */
async function claimNamespace(client: Neo4jClient, namespace: string, installation: string): Promise<void> {
  const rows = await client.write((run) =>
    run<{ readonly id: string }>(
      'MERGE (owner:EngramInstallation {namespace: $namespace}) ON CREATE SET owner.id = $installation RETURN owner.id AS id',
      { namespace, installation },
    ),
  );
  const what = `The namespace ${namespace} of Neo4j at ${client.address.url}`;
  requireOwn({ what, setting: 'ENGRAM_NEO4J_NAMESPACE' }, installation, rows[0]?.id ?? installation);
}

/** The scope under which a dataset is stored: one that only this namespace has, without what it withholds. */
function scopesOf(namespace: string | null): (scope: DatasetScope) => DatasetScope {
  if (namespace === null) return ({ tenant, dataset }) => datasetScope(tenant, dataset);
  if (/^[\w-]+$/.test(namespace)) return (scope) => storedScope(namespace, scope);
  throw engramError('CogneeSystemError', `"${namespace}" cannot be a namespace in Neo4j: letters, digits, _ and - can`);
}
