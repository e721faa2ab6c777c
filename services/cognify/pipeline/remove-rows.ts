import { dataItemId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Statements } from '../../common/records/cognify/statements.ts';
import type { Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { IndexStores } from '../../common/storage/ports/dataset-indexes.ts';
import type { RowSelection } from '../../common/storage/ports/text-index.ts';

export interface RowStores extends IndexStores {
  readonly statements: Statements;
  readonly supersessions: Supersessions;
}

/** Removes the selected rows of an item from all three indexes, and its statements. */
export async function removeRows(
  { text, vectors, graph, statements, supersessions }: RowStores,
  scope: DatasetScope,
  selection: RowSelection,
) {
  const [texts, vectorRows, evidence] = await Promise.all([
    text.remove(scope, selection),
    vectors.remove(scope, selection),
    graph.remove(scope, selection),
    removeStatements({ statements, supersessions }, scope, selection),
  ]);
  return { text: texts, vectors: vectorRows, graph: evidence };
}

async function removeStatements(
  { statements, supersessions }: Pick<RowStores, 'statements' | 'supersessions'>,
  scope: DatasetScope,
  selection: RowSelection,
): Promise<void> {
  await statements.remove(scope, selection);
  // An attempt that did not commit has superseded nothing, and the generation before it stays.
  if (selection.generation === undefined) await supersessions.removeOfItem(scope, dataItemId(selection.item));
}
