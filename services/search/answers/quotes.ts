import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { RankedPassage } from '../model.ts';
import type { QuoteOptions, Retrieval, RetrievalDependencies, SearchedDataset } from '../retrieval/retrieval.ts';
import { type ExtractiveAnswer, extractiveAnswer } from './extractive.ts';
import type { InnerAnswer } from './inner-question.ts';
import type { Fact } from './knowledge.ts';
import { type Table, tablesOf } from './table-rows.ts';
import { asksForRows } from './tables.ts';

export interface QuoteInput {
  readonly query: string;
  readonly retrieval: Retrieval;
  /** The passages to quote. */
  readonly passages: readonly RankedPassage[];
  readonly inner: InnerAnswer | null;
  readonly facts: readonly Fact[];
}

/** Answers a question without a model, by quotes. */
export type QuoteReader = (
  dataset: SearchedDataset,
  found: QuoteInput,
  options: QuoteOptions,
) => Promise<ExtractiveAnswer>;

/** Answers a question with quotes of passages and of the tables that they are from. */
export async function quotesFrom(
  deps: Pick<RetrievalDependencies, 'indexes'>,
  dataset: SearchedDataset,
  { query, retrieval, passages, inner, facts }: QuoteInput,
  options: QuoteOptions,
): Promise<ExtractiveAnswer> {
  const tables = await readTables(deps, dataset, query, passages);
  return extractiveAnswer(query, { ...retrieval, passages }, passages, { ...options, tables, inner, facts });
}

const PASSAGES_READ = 8;
/** Longer documents are not counted: a count of a part would be wrong. */
const MAX_CHUNKS = 200;

/** Reads the whole tables and lists that the best passages are from, for questions that rows answer. */
export async function readTables(
  { indexes }: Pick<RetrievalDependencies, 'indexes'>,
  dataset: SearchedDataset,
  question: string,
  passages: readonly RankedPassage[],
): Promise<readonly Table[]> {
  if (!asksForRows(question)) return [];
  const tabular = passages.filter((passage) => tablesOf([passage]).length > 0).slice(0, PASSAGES_READ);
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
