import type { DatasetScope } from '../../common/domain/scope.ts';
import type { DatasetIndexes } from '../../common/ports/dataset-indexes.ts';
import type { RowSelection } from '../../common/ports/text-index.ts';

export type RowStores = Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;

export interface RemovedRows {
  readonly text: number;
  readonly vectors: number;
  readonly graph: number;
}

/** Removes rows of an item from all three indexes. */
export async function removeRows(
  { text, vectors, graph }: RowStores,
  scope: DatasetScope,
  selection: RowSelection,
): Promise<RemovedRows> {
  const [texts, vectorRows, evidence] = await Promise.all([
    text.remove(scope, selection),
    vectors.remove(scope, selection),
    graph.remove(scope, selection),
  ]);
  return { text: texts, vectors: vectorRows, graph: evidence };
}
