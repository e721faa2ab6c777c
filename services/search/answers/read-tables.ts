import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { RankedPassage } from '../model.ts';
import type { RetrievalDependencies } from '../retrieval/retrieval.ts';
import { asksForRows, type Table, tablesOf } from './tables.ts';

const PASSAGES_READ = 5;
/** Longer documents are not counted: a count of a part would be wrong. */
const MAX_CHUNKS = 200;

/** Reads the whole tables and lists that the best passages are from, for questions that rows answer. */
export async function readTables(
  { indexes }: Pick<RetrievalDependencies, 'indexes'>,
  dataset: DatasetRef,
  question: string,
  passages: readonly RankedPassage[],
): Promise<readonly Table[]> {
  if (!asksForRows(question)) return [];
  const tabular = passages.slice(0, PASSAGES_READ).filter((passage) => tablesOf([passage]).length > 0);
  const items = new Map(tabular.map(({ row }) => [row.item, row]));
  const tables: Table[] = [];
  for (const { item, generation } of items.values()) {
    const query = { kind: 'chunk', provenance: { item, generation }, limit: MAX_CHUNKS + 1 } as const;
    const rows = await indexes.text.list(scopeOf(dataset), query);
    if (rows.length > MAX_CHUNKS) continue;
    tables.push(...tablesOf(rows.map(({ id, payload }) => ({ id, payload: payload as ChunkPayload }))));
  }
  return tables;
}
