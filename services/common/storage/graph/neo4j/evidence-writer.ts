import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import type { EdgeEvidence, GraphCounts, NodeEvidence } from '../../ports/graph-store.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import { edgeRows, nodeRows, originRows, refOf, type StoredRow } from './evidence-rows.ts';
import type { GraphView } from './graph-view.ts';
import type { Neo4jClient, Run } from './neo4j-client.ts';

/** Rows of one UNWIND: about 1 MB on the wire. */
const ROWS_PER_STATEMENT = 2000;
/** Rows of one transaction, whose changes the server keeps on its heap until the commit: about 100 MB. */
const ROWS_PER_TRANSACTION = 50_000;
const REMOVED_PER_TRANSACTION = 10_000;

/** Writers of a dataset take turns, and its statistics see whole transactions only. */
const LOCK_DATASET = `MERGE (d:EngramDataset {tenant: $tenant, dataset: $dataset})
  SET d.changes = coalesce(d.changes, 0) + 1`;

const ORIGIN_CHANGES = 'SET n += row, n.changes = coalesce(n.changes, 0) + 1, n.isCondemned = null';

export function createEvidenceWriter(client: Neo4jClient, view: GraphView) {
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

async function merge(
  run: Run,
  scope: DatasetScope,
  label: string,
  rows: readonly StoredRow[],
  set: string,
): Promise<void> {
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
