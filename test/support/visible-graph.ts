import type { MergedEdge, MergedNode } from '../../services/common/domain/graph/merge.ts';
import { scopeOf } from '../../services/common/kernel/dataset.ts';
import { openGraph } from '../../services/common/records/cognify/visible-graph.ts';
import type { TestWorld } from './cognify-service.ts';

interface WholeGraph {
  readonly nodes: readonly MergedNode[];
  readonly edges: readonly MergedEdge[];
}

export async function graphOf({ indexes, ledger, dataset }: TestWorld): Promise<WholeGraph> {
  const graph = await openGraph({ graph: indexes.graph, ledger }, scopeOf(dataset));
  const nodes: MergedNode[] = [];
  const edges: MergedEdge[] = [];
  for await (const page of graph.nodes()) nodes.push(...page);
  for await (const page of graph.edges()) edges.push(...page);
  return { nodes, edges };
}

/** What a reader can tell apart: everything but the number of the attempt that built it. */
export async function graphPrint(world: TestWorld): Promise<string> {
  const { nodes, edges } = await graphOf(world);
  const plain = (rows: readonly (MergedNode | MergedEdge)[]) =>
    rows.map((row) => JSON.stringify({ ...row, evidence: row.evidence.map(({ item }) => item) })).sort();
  return JSON.stringify([plain(nodes), plain(edges)]);
}
