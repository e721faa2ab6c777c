import { randomInt } from 'node:crypto';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { scoreBm25 } from '../../../ranking/bm25.ts';
import { asRead } from '../../ports/index-entry.ts';
import type {
  CandidateQuery,
  TextCandidate,
  TextCandidates,
  TextEntry,
  TextIndex,
  TextQuery,
} from '../../ports/text-index.ts';
import type { BulkRow } from './bulk-writer.ts';
import { copyRows } from './copied-rows.ts';
import { writeConflict } from './elasticsearch-errors.ts';
import { entryFilters, letsNothingThrough, ofDataset } from './filters.ts';
import { textLayout } from './index-layout.ts';
import type { IndexPlacement } from './index-placements.ts';
import { lexicalQuery, SCORE_SLACK } from './lexical-query.ts';
import { routingOf, rowId } from './names.ts';
import { frequencyReader, rowWords, tokensOf } from './row-words.ts';
import type { IndexParts } from './stored-rows.ts';
import { candidateOf, createTextReader, type StoredRow, type TextDocument, textRow } from './text-reader.ts';

/** A dataset may be dropped while it is written to: then it is made again. */
const WRITE_ATTEMPTS = 5;
/** Rows that are read to find the best ones, however many nearly equal ones there are. */
const MAX_RANKED = 5000;

/**
 * `TextIndex` in one index per tenant with an alias per dataset. Rows of one call are written one by one, not all or none
 * when the server fails in between: they belong to a generation that is not committed then. Candidates take two round trips,
 * and one more for rows that were never read.
 */
export function createElasticsearchTextIndex(dependencies: IndexParts): TextIndex {
  const { connection, placements, rows, names, settings } = dependencies;
  const layout = textLayout(settings);
  const homeOf = (scope: DatasetScope): IndexPlacement => ({
    index: names.textIndex(scope),
    layout,
    alias: names.textAlias(scope),
    filter: ofDataset(scope),
    routing: routingOf(scope),
  });
  const reader = createTextReader({ connection, names });
  const index: TextIndex = {
    async upsert(scope, entries) {
      if (entries.length === 0) return;
      const documents = bulkRows(scope, entries);
      for (let attempt = 1; attempt <= WRITE_ATTEMPTS; attempt++) {
        if (await rows.write(homeOf(scope), documents)) return;
      }
      throw writeConflict(connection.address);
    },
    async candidates(scope, query, signal) {
      const { kind, terms } = query;
      const lexical = lexicalQuery(kind, terms);
      const counted = await reader.search(
        scope,
        {
          size: 0,
          track_total_hits: true,
          query: { bool: { filter: [{ term: { kind } }] } },
          aggregations: lexical.aggregations,
        },
        signal,
      );
      const { statistics, scoring } = lexical.read(counted);
      if (scoring === null || letsNothingThrough(query)) return { candidates: [], statistics };
      const bool = { must: [scoring], filter: entryFilters(asRead(scope, query)) };
      const ranked = (size: number) => reader.best(scope, kind, { size, query: { bool } }, signal);
      return { candidates: await bestRows(query, statistics, ranked), statistics };
    },
    async fetch(scope, kind, ids, { perId } = {}) {
      const found =
        perId === undefined
          ? await reader.rowsOf(scope, kind, ids)
          : await reader.latestRowsOf(scope, kind, ids, perId);
      return found.map(textRow);
    },
    async fetchCandidates(scope, query) {
      const found = await reader.rowsOf(scope, query.kind, query.ids);
      return found.map(candidateReader(query));
    },
    async list(scope, query) {
      const found = await reader.list(scope, query);
      return query.withTokens
        ? found.map((row) => ({ ...textRow(row), tokens: tokensOf(row.counts) }))
        : found.map(textRow);
    },
    remove: (scope, selection) => rows.remove(names.textIndex(scope), scope, selection),
    async drop(scope) {
      const placement = homeOf(scope);
      placements.forget(placement);
      // First: writers that come late must not find their way in.
      await placements.removeAliases(placement.index, placement.alias);
      await rows.remove(placement.index, scope, null);
      await placements.deleteIfEmpty(placement.index);
    },
    count: (scope, filter) => rows.count(names.textIndex(scope), scope, filter),
    copy: (scope, copied) => copyRows(reader, index, scope, copied),
  };
  return index;
}

/**
 * The rows with the best BM25, scored by the server and again here from exact numbers. Asks for some more than wanted, and for
 * many more as long as the server's scores leave open whether a better row was left out (by more than `SCORE_SLACK`).
 */
async function bestRows(
  query: TextQuery,
  statistics: TextCandidates['statistics'],
  search: (size: number) => ReturnType<ReturnType<typeof createTextReader>['best']>,
): Promise<readonly TextCandidate[]> {
  const { limit } = query;
  const candidateOf = candidateReader(query);
  const few = Math.ceil(limit * 1.25) + 16;
  for (let size = few; ; size = Math.min(4 * size, MAX_RANKED)) {
    const { rows, worst, found } = await search(size);
    const candidates = rows.map(candidateOf);
    const scored = scoreBm25({ candidates, statistics });
    const best = scored.slice(0, limit).map(({ row }) => row);
    const isSettled = worst <= (scored[limit - 1]?.score ?? 0) * (1 + SCORE_SLACK);
    if (found < size || isSettled || size >= MAX_RANKED) return best;
  }
}

const MAX_STAMP = 2 ** 48 - 1;

/** Later rows win over earlier ones of the same key. All JSON is made here, before anything is sent. */
function bulkRows(scope: DatasetScope, entries: readonly TextEntry[]): readonly BulkRow[] {
  const documents = new Map<string, string>();
  const stamp = randomInt(MAX_STAMP);
  for (const { kind, id, item, generation, ordinal, nodeSets, tokens, payload } of entries) {
    const { words, often, length } = rowWords(kind, tokens);
    const document: TextDocument = {
      dataset: scope.dataset,
      kind,
      id,
      item,
      generation,
      ordinal,
      nodeSets,
      words,
      ...(often.length > 0 ? { often } : {}),
      length,
      stamp,
      payload: JSON.stringify(payload),
    };
    documents.set(rowId(scope, kind, { item, generation, id }), JSON.stringify(document));
  }
  return [...documents].map(([id, document]) => ({ id, document }));
}

function candidateReader({ terms }: Pick<CandidateQuery, 'terms'>) {
  const frequenciesOf = frequencyReader(terms);
  return (row: StoredRow) => candidateOf(row, frequenciesOf(row.counts));
}
