import { type MergedEdge, type MergedNode, mergeEdges, mergeNodes } from '../../common/domain/graph/merge.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type Page, pagesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';

const PAGE_ROWS = 10_000;

export interface WholeGraph {
  readonly nodes: readonly MergedNode<NodeEvidence>[];
  /** Both ends are among the nodes. */
  readonly edges: readonly MergedEdge<EdgeEvidence>[];
}

/** The committed graph of a dataset as a whole: for the graph routes, views and exports. Memory grows with the graph. */
export async function readWholeGraph(
  { graph, ledger }: { readonly graph: GraphStore; readonly ledger: Ledger },
  scope: DatasetScope,
): Promise<WholeGraph> {
  const committed = new Map<DataItemId, number | null>();
  const keep = async <Row extends Provenance>(rows: readonly Row[]): Promise<readonly Row[]> => {
    const unknown = [...new Set(rows.map(({ item }) => item))].filter((item) => !committed.has(item));
    const found = await ledger.committed(scope, unknown);
    for (const item of unknown) committed.set(item, found.get(item) ?? null);
    return visible(rows, committed as ReadonlyMap<DataItemId, number>);
  };
  const nodes = mergeNodes(await scanAll((after) => graph.scanNodes(scope, { after, limit: PAGE_ROWS }), keep));
  const known = new Set(nodes.map(({ id }) => id));
  const edges = mergeEdges(await scanAll((after) => graph.scanEdges(scope, { after, limit: PAGE_ROWS }), keep));
  return { nodes, edges: edges.filter(({ source, target }) => known.has(source) && known.has(target)) };
}

async function scanAll<Row>(
  scan: (after: string | null) => Promise<Page<Row>>,
  keep: (rows: readonly Row[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const page of pagesOf(scan)) for (const row of await keep(page)) rows.push(row);
  return rows;
}
