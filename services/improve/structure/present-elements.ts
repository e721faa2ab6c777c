import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';

export interface ElementSources {
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
}

interface ElementIds {
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
}

/** Returns the elements that are visible in the dataset. `rows`: limit of evidence rows per element; default: all that matter. */
export async function presentElements(
  { indexes, ledger }: ElementSources,
  scope: DatasetScope,
  { nodes, edges }: ElementIds,
  rows?: number,
): Promise<ReadonlySet<string>> {
  const [nodeRows, edgeRows] = await Promise.all([
    nodes.length === 0 ? [] : indexes.graph.nodes(scope, nodes, rows === undefined ? {} : { perNode: rows }),
    edges.length === 0 ? [] : indexes.text.fetch(scope, 'edge', edges, rows === undefined ? {} : { perId: rows }),
  ]);
  const evidence = [...nodeRows, ...edgeRows];
  const committed = await ledger.committed(scope, [...new Set(evidence.map(({ item }) => item))]);
  return new Set(visible(evidence, committed).map(({ id }) => id));
}
