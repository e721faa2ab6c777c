import { engramError } from '../../../kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import type { EdgeEvidence, GraphCounts, GraphStore, NodeEvidence } from '../../ports/graph-store.ts';
import { DEFAULT_PER_NODE, readSeenEdges, readSeenNodes } from '../../ports/read-seen.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import { requireOwn } from '../../rules/installation.ts';
import { storedScope } from '../../rules/stored-scope.ts';
import { copyEdges } from './copied-edges.ts';
import { createEvidenceReader } from './evidence-reader.ts';
import { edgeRows, nodeRows, originRows, refOf, type StoredRow } from './evidence-rows.ts';
import { createGraphView, type GraphView } from './graph-view.ts';
import { createNeo4jClient, type Neo4jClient, type Neo4jConnection, type Run } from './neo4j-client.ts';
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
    copy: (scope, copied) => copyEdges(client, stored(scope), copied),
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

/** Rows of one UNWIND: about 1 MB on the wire. */
const ROWS_PER_STATEMENT = 2000;
/** Rows of one transaction, whose changes the server keeps on its heap until the commit: about 100 MB. */
const ROWS_PER_TRANSACTION = 50_000;
const REMOVED_PER_TRANSACTION = 10_000;

/** Writers of a dataset take turns, and its statistics see whole transactions only. */
const LOCK_DATASET = `MERGE (d:EngramDataset {tenant: $tenant, dataset: $dataset})
  SET d.changes = coalesce(d.changes, 0) + 1`;

const ORIGIN_CHANGES = 'SET n += row, n.changes = coalesce(n.changes, 0) + 1, n.isCondemned = null';

function createEvidenceWriter(client: Neo4jClient, view: GraphView) {
  return {
    async upsert(
      scope: DatasetScope,
      evidence: { readonly nodes: readonly NodeEvidence[]; readonly edges: readonly EdgeEvidence[] },
    ) {
      const nodes = nodeRows(evidence.nodes);
      const edges = edgeRows(evidence.edges);
      const origins = originRows([...evidence.nodes, ...evidence.edges]);
      for (const part of inParts(nodes, edges)) {
        await client.write(async (run) => {
          await run(LOCK_DATASET, { ...scope });
          await merge(run, scope, 'EngramOrigin', origins, ORIGIN_CHANGES);
          await merge(run, scope, 'EngramNode', part.nodes, 'SET n = row, n += $scope');
          await merge(run, scope, 'EngramEdge', part.edges, 'SET n = row, n += $scope');
        });
      }
    },
    async remove(scope: DatasetScope, selection: RowSelection) {
      const origins = await client.read((run) => selectOrigins(run, scope, selection));
      if (origins.length === 0) return 0;
      const keys = origins.map(({ key }) => key);
      await view.hide(scope, keys);
      return removeEvidence(client, scope, keys);
    },
    async drop(scope: DatasetScope) {
      // The origins first: without them nothing gets into the view any more, which is removed before its lock.
      for (const label of ['EngramOrigin', 'EngramNode', 'EngramEdge', 'EngramDataset']) {
        if (label === 'EngramDataset') await view.discard(scope);
        const statement = `MATCH (n:${label} {tenant: $tenant, dataset: $dataset}) WITH n LIMIT ${REMOVED_PER_TRANSACTION}
          DELETE n RETURN count(n) AS gone`;
        while ((await client.write((run) => removed(run, statement, { ...scope }))) > 0);
      }
    },
    count: (scope: DatasetScope, item: string | null) => client.write((run) => countEvidence(run, scope, item)),
  };
}

async function merge(run: Run, scope: DatasetScope, label: string, rows: readonly StoredRow[], set: string) {
  for (const slice of slices(rows, ROWS_PER_STATEMENT)) {
    await run(
      `UNWIND $rows AS row
       MERGE (n:${label} {tenant: $scope.tenant, dataset: $scope.dataset, key: row.key}) ${set}`,
      { scope, rows: slice },
    );
  }
}

function* inParts(nodes: readonly StoredRow[], edges: readonly StoredRow[]) {
  for (let start = 0; start < nodes.length + edges.length; start += ROWS_PER_TRANSACTION) {
    const end = start + ROWS_PER_TRANSACTION;
    yield {
      nodes: nodes.slice(start, end),
      edges: edges.slice(Math.max(0, start - nodes.length), Math.max(0, end - nodes.length)),
    };
  }
}

function selectOrigins(run: Run, scope: DatasetScope, selection: RowSelection) {
  const { item, generation = null, beforeGeneration = null } = selection;
  return run<{ readonly key: string }>(
    `MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset, itemRef: $itemRef})
     WHERE ($generation IS NULL OR o.generation = $generation)
       AND ($beforeGeneration IS NULL OR o.generation < $beforeGeneration)
     RETURN o.key AS key`,
    { ...scope, itemRef: refOf(item), generation, beforeGeneration },
  );
}

/** In bounded transactions; the origins go with the last of their rows. */
async function removeEvidence(client: Neo4jClient, scope: DatasetScope, keys: readonly string[]): Promise<number> {
  const parameters = { ...scope, keys };
  for (let total = 0; ; ) {
    const gone = await client.write(async (run) => {
      await run(LOCK_DATASET, parameters);
      let rows = 0;
      for (const label of ['EngramNode', 'EngramEdge']) {
        rows += await removed(
          run,
          `MATCH (n:${label}) WHERE n.tenant = $tenant AND n.dataset = $dataset AND n.origin IN $keys AND n.key IS NOT NULL
           WITH n LIMIT ${REMOVED_PER_TRANSACTION} DELETE n RETURN count(n) AS gone`,
          parameters,
        );
      }
      if (rows > 0) return rows;
      await run(
        'MATCH (o:EngramOrigin) WHERE o.tenant = $tenant AND o.dataset = $dataset AND o.key IN $keys DELETE o',
        parameters,
      );
      return 0;
    });
    if (gone === 0) return total;
    total += gone;
  }
}

async function removed(run: Run, statement: string, parameters: Readonly<Record<string, unknown>>): Promise<number> {
  const rows = await run<{ readonly gone: number }>(statement, parameters);
  return rows[0]?.gone ?? 0;
}

/** Under the lock: the server shows transactions to readers piece by piece while they are committed. */
async function countEvidence(run: Run, scope: DatasetScope, item: string | null): Promise<GraphCounts> {
  const filter = item === null ? '' : `AND n.key IS NOT NULL AND n.origin IN origins`;
  const ofLabel = (label: string, rows: string, distinct: string) => `CALL (d, origins) {
    MATCH (n:${label}) WHERE n.tenant = $tenant AND n.dataset = $dataset ${filter}
    RETURN count(n) AS ${rows}, count(DISTINCT n.ref) AS ${distinct} }`;
  const found = await run<{ [Key in keyof GraphCounts]: number }>(
    `MATCH (d:EngramDataset {tenant: $tenant, dataset: $dataset}) SET d.changes = d.changes
     WITH d CALL (d) {
       MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset}) WHERE $itemRef IS NULL OR o.itemRef = $itemRef
       RETURN collect(o.key) AS origins }
     ${ofLabel('EngramNode', 'nodeRows', 'nodes')}
     ${ofLabel('EngramEdge', 'edgeRows', 'edges')}
     RETURN nodes, edges, nodeRows, edgeRows`,
    { ...scope, itemRef: item === null ? null : refOf(item) },
  );
  return found[0] ?? { nodes: 0, edges: 0, nodeRows: 0, edgeRows: 0 };
}
