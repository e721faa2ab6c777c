import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { Visibility } from '../retrieval/visibility.ts';
import { retiredAmong, visibleOnly } from './retired-statements.ts';
import type { TimeView } from './time-view.ts';

/** Whom an answer is told to: what the ledger shows, and as of when. */
export interface Told {
  readonly visibility: Visibility;
  readonly view: TimeView;
}

/** Evidence of edges without sentences that newer statements have replaced. */
export async function currentEdges(
  { supersessions }: Pick<SearchDependencies, 'supersessions'>,
  dataset: DatasetRef,
  edges: readonly EdgeEvidence[],
  { visibility, view }: Told,
): Promise<readonly EdgeEvidence[]> {
  const chunkOf = ({ properties }: EdgeEvidence) => String(properties['chunkId'] ?? '');
  const chunks = edges.map(chunkOf).filter((chunk) => chunk !== '');
  const retired = await retiredAmong({ supersessions, visibility }, scopeOf(dataset), chunks, view);
  if (retired.isEmpty) return edges;
  return edges.filter((edge) => !retired.isRetired(chunkOf(edge), String(edge.properties['text'] ?? '')));
}

/** Entities keep their names; a description that a replaced sentence gave is left out. */
export async function currentEntityRows(
  { supersessions }: Pick<SearchDependencies, 'supersessions'>,
  dataset: DatasetRef,
  rows: readonly TextRow[],
  { visibility, view }: Told,
): Promise<readonly TextRow[]> {
  if (!view.currentOnly && view.asOf === null) return rows;
  const described = rows.filter(({ payload }) => payload['description'] !== '');
  const items = [...new Set(described.map(({ item }) => item))];
  if (items.length === 0) return rows;
  const found = await visibleOnly(await supersessions.ofOlderItems(scopeOf(dataset), items), visibility);
  const gone = found.filter(({ newer }) => view.asOf === null || newer.from <= view.asOf);
  if (gone.length === 0) return rows;
  return rows.map((row) => {
    const description = String(row.payload['description'] ?? '').replace(/…$/u, '');
    const isGone = gone.some(({ older }) => older.item === row.item && older.text.includes(description));
    return description !== '' && isGone ? { ...row, payload: { ...row.payload, description: '' } } : row;
  });
}
