import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { scoreBm25 } from '../../common/ranking/bm25.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';
import type { ScoredRow, SearchRequest } from '../model.ts';
import type { RetrievalDependencies } from './retrieval.ts';
import type { QueryVector } from './retrieve-passages.ts';
import { fuse } from './rrf.ts';
import { createVisibility } from './visibility.ts';

/** Ranks chunks by BM25 alone, for CHUNKS_LEXICAL. */
export async function lexicalChunks(
  deps: RetrievalDependencies,
  request: SearchRequest,
  target: { readonly dataset: DatasetRef; readonly limit: number },
): Promise<readonly ScoredRow[]> {
  const terms = tokenizeQuery(request.query);
  // A query of stop words alone finds nothing (search-recall.md §3.14).
  if (terms.every((term) => STOP_WORDS.has(term))) return [];
  const scope = scopeOf(target.dataset);
  const query = { kind: 'chunk' as const, terms, limit: overFetch(target.limit) };
  const found = await deps.indexes.text.candidates(scope, query, request.context.signal);
  const candidates = await createVisibility(deps.ledger, scope).filter(found.candidates);
  return scoreBm25({ candidates, statistics: found.statistics })
    .slice(0, target.limit)
    .map(({ row }, index) => ({ row, distance: null, rank: index + 1 }));
}

/**
 * Returns the nearest chunks in vector space that are not known yet, to fill up `limit`: CHUNKS returns as many rows as
 * requested, however weak they match.
 */
export async function nearestChunks(
  deps: RetrievalDependencies,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly known: ReadonlySet<string>;
  },
): Promise<readonly ScoredRow[]> {
  const { dataset, vector, limit, known } = target;
  const missing = limit - known.size;
  if (vector === null || missing <= 0) return [];
  const scope = scopeOf(dataset);
  const visibility = createVisibility(deps.ledger, scope);
  const nodeSets = request.nodeSets === undefined ? {} : { nodeSets: request.nodeSets };
  const query = { kind: 'chunk' as const, vector: vector.values, limit: overFetch(limit), ...nodeSets };
  const found = await deps.indexes.vectors.nearest(vector.version, query, request.context.signal);
  const near = await visibility.filter(found);
  const hits = near.filter(({ id }) => !known.has(id)).slice(0, missing);
  const texts = await deps.indexes.text.fetch(scope, 'chunk', [...new Set(hits.map(({ id }) => id))]);
  const rows = new Map((await visibility.filter(texts)).map((row) => [row.id, row]));
  return hits.flatMap(({ id, similarity }, index) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, distance: 1 - similarity, rank: known.size + index + 1 }];
  });
}

/** Ranks summaries by words and vectors. */
export async function summaries(
  deps: RetrievalDependencies,
  request: SearchRequest,
  target: { readonly dataset: DatasetRef; readonly vector: QueryVector; readonly limit: number },
): Promise<readonly ScoredRow[]> {
  return hybridRows(deps, request, { ...target, kind: 'summary' });
}

/** Ranks rows of a kind by BM25 and cosine with rank fusion, for kinds outside the graph. */
export async function hybridRows(
  deps: RetrievalDependencies,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly kind: 'summary' | 'triplet';
    readonly nodeSets?: readonly string[];
  },
): Promise<readonly ScoredRow[]> {
  const { dataset, vector, limit, kind } = target;
  const inSets = target.nodeSets === undefined ? {} : { nodeSets: target.nodeSets };
  const scope = scopeOf(dataset);
  const visibility = createVisibility(deps.ledger, scope);
  const terms = tokenizeQuery(request.query);
  const fetchLimit = overFetch(limit);
  const { signal } = request.context;
  const [found, near] = await Promise.all([
    terms.length === 0
      ? null
      : deps.indexes.text.candidates(scope, { kind, terms, limit: fetchLimit, ...inSets }, signal),
    vector === null
      ? []
      : deps.indexes.vectors.nearest(
          vector.version,
          { kind, vector: vector.values, limit: fetchLimit, ...inSets },
          signal,
        ),
  ]);
  const candidates = found === null ? [] : await visibility.filter(found.candidates);
  const scored = found === null ? [] : scoreBm25({ candidates, statistics: found.statistics });
  const hits = await visibility.filter(near);
  const rows = new Map<string, TextRow>(candidates.map((row) => [row.id, row]));
  const missing = hits.map((hit) => hit.id).filter((id) => !rows.has(id));
  for (const row of await visibility.filter(await deps.indexes.text.fetch(scope, kind, missing))) rows.set(row.id, row);
  const distances = new Map(hits.map((hit) => [hit.id, 1 - hit.similarity]));
  const lanes = [
    { name: 'lexical', ids: [...new Set(scored.map(({ row }) => row.id))], weight: 1 },
    { name: 'dense', ids: [...new Set(hits.map((hit) => hit.id))], weight: 1 },
  ];
  return fuse(lanes, { limit, guaranteedPerLane: 1 }).flatMap(({ id }, index) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, distance: distances.get(id) ?? null, rank: index + 1 }];
  });
}

/** Returns how many rows to fetch: some belong to generations that are not visible. */
function overFetch(limit: number): number {
  return Math.min(1000, Math.max(50, limit * 2));
}
