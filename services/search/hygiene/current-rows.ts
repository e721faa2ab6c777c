import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { SearchDependencies } from '../dependencies.ts';
import { createVisibility } from '../retrieval/visibility.ts';
import type { SearchRequest } from '../usecases/search-request.ts';
import { retiredAmong, tellsAnything } from './retired-statements.ts';
import { CURRENT } from './time-view.ts';

/** Rows of chunks, summaries, edges or triplets without the statements that newer ones have replaced. */
export async function currentRows<Row extends { readonly row: TextRow }>(
  deps: Pick<SearchDependencies, 'supersessions' | 'ledger'>,
  { view = CURRENT }: Pick<SearchRequest, 'view'>,
  dataset: DatasetRef,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const scope = scopeOf(dataset);
  const visibility = createVisibility(deps.ledger, scope);
  const { supersessions } = deps;
  const chunks = rows.map(({ row }) => chunkOf(row));
  const retired = await retiredAmong({ supersessions, visibility }, scope, chunks, view);
  if (retired.isEmpty) return rows;
  return rows.flatMap((scored) => {
    const { row } = scored;
    const text = String(row.payload['text'] ?? '');
    const chunk = chunkOf(row);
    const stated = statementOf(row);
    if (stated !== '') return retired.isRetired(chunk, stated) ? [] : [scored];
    const left = retired.textOf(chunk, text);
    if (left === text) return [scored];
    return tellsAnything(left) ? [{ ...scored, row: { ...row, payload: { ...row.payload, text: left } } }] : [];
  });
}

/** Summaries and edges name the chunk that they are made from. */
function chunkOf({ id, payload }: TextRow): string {
  const chunk = payload['chunkId'];
  return typeof chunk === 'string' ? chunk : id;
}

/** The sentence that an edge stands for; '' where a row is more than one statement. */
function statementOf({ kind, payload }: TextRow): string {
  if (kind === 'edge') return String(payload['text'] ?? '');
  return kind === 'triplet' ? String(payload['statement'] ?? '') : '';
}
