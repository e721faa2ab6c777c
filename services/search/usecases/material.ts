import { payerOf } from '../../common/domain/budget.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { scoreBm25 } from '../../common/ranking/bm25.ts';
import { activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { VectorSpace } from '../../common/storage/ports/vector-index.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { InfluenceWish } from '../retrieval/learned-elements.ts';
import type { RankedPassage, Retrieval } from '../retrieval/retrieval.ts';
import { fuse } from '../retrieval/rrf.ts';
import { createVisibility } from '../retrieval/visibility.ts';
import type { SearchRequest } from './search-request.ts';

/** What one dataset has to say about a query. */
export interface Material {
  readonly dataset: DatasetRef;
  readonly passages: readonly RankedPassage[];
  readonly retrieval: Retrieval;
}

/** The query's vector for one dataset; null for a blank query. */
export type QueryVector = {
  readonly values: Float32Array;
  /** Where the vectors are that it can be compared with. */
  readonly home: DatasetScope;
  readonly space: VectorSpace;
} | null;

/** The query in the vector spaces of the datasets that are searched. */
export interface QueryEmbedding {
  /** Errors: `EmbeddingDimensionMismatchError`, and those of the embedding model. */
  of(dataset: DatasetRef): Promise<QueryVector>;
}

/** Each embedding model is asked once, when the first of its datasets is. */
export function embedQuery(
  deps: Pick<SearchDependencies, 'homes' | 'embedders'>,
  request: SearchRequest,
): QueryEmbedding {
  const { tenant } = request.principal;
  const { signal } = request.context;
  const { onUsage } = request;
  const context = {
    ...{ scope: { tenant }, purpose: 'query' as const, payer: payerOf(request.principal) },
    ...(signal === undefined ? {} : { signal }),
    ...(onUsage === undefined ? {} : { onUsage }),
  };
  const made = new Map<string, Promise<readonly Float32Array[]>>();
  return {
    async of(dataset) {
      if (request.query.trim() === '') return null;
      const { scope: home, embedder } = await activeEmbedding(deps, scopeOf(dataset));
      const { space } = embedder;
      const key = `${space.dimensions} ${space.model}`;
      const vectors = made.get(key) ?? embedder.embed([request.query], context);
      made.set(key, vectors);
      const [values] = await vectors;
      return values === undefined ? null : { values, home, space };
    },
  };
}

export async function gatherPassages(
  deps: Pick<SearchDependencies, 'retriever' | 'clock'>,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly influence: InfluenceWish;
  },
): Promise<Material> {
  const { dataset, vector, limit, influence } = target;
  const retrieval = await deps.retriever.retrieve({
    scope: scopeOf(dataset),
    query: request.query,
    vector: vector?.values ?? null,
    ...(vector === null ? {} : { vectorHome: vector.home }),
    limit,
    influence,
    now: deps.clock.now(),
    ...(request.view === undefined ? {} : { view: request.view }),
    ...(request.nodeSets === undefined ? {} : { nodeSets: request.nodeSets }),
    ...(request.context.signal === undefined ? {} : { signal: request.context.signal }),
  });
  return { dataset, passages: retrieval.passages, retrieval };
}

/** A row with the cosine distance that the wire calls score; null when it has no vector near the query. */
export interface ScoredRow {
  readonly row: TextRow;
  readonly distance: number | null;
  readonly rank: number;
}

/** BM25 alone over the chunks: the lexical search type. */
export async function lexicalChunks(
  deps: Pick<SearchDependencies, 'indexes' | 'ledger'>,
  request: SearchRequest,
  target: { readonly dataset: DatasetRef; readonly limit: number },
): Promise<readonly ScoredRow[]> {
  const terms = tokenizeQuery(request.query);
  // A query of stop words alone asks for nothing by its words (search-recall.md §3.14).
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
 * The chunks nearest in vector space that ranking did not bring up, until `limit` is filled: the wire's CHUNKS gives as
 * many rows as are asked for, however little they fit.
 */
export async function nearestChunks(
  deps: Pick<SearchDependencies, 'indexes' | 'ledger'>,
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
  const found = await deps.indexes.vectors.nearest(vector.home, query, request.context.signal);
  const near = await visibility.filter(found);
  const hits = near.filter(({ id }) => !known.has(id)).slice(0, missing);
  const texts = await deps.indexes.text.fetch(scope, 'chunk', distinct(hits.map(({ id }) => id)));
  const rows = new Map((await visibility.filter(texts)).map((row) => [row.id, row]));
  return hits.flatMap(({ id, similarity }, index) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, distance: 1 - similarity, rank: known.size + index + 1 }];
  });
}

/** Summaries by words and by vector. */
export async function summaries(
  deps: Pick<SearchDependencies, 'indexes' | 'ledger'>,
  request: SearchRequest,
  target: { readonly dataset: DatasetRef; readonly vector: QueryVector; readonly limit: number },
): Promise<readonly ScoredRow[]> {
  return hybridRows(deps, request, { ...target, kind: 'summary' });
}

/** Rows of a kind by BM25 and cosine, fused: for kinds that have no graph around them. */
export async function hybridRows(
  deps: Pick<SearchDependencies, 'indexes' | 'ledger'>,
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
          vector.home,
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
    { name: 'lexical', ids: distinct(scored.map(({ row }) => row.id)), weight: 1 },
    { name: 'dense', ids: distinct(hits.map((hit) => hit.id)), weight: 1 },
  ];
  return fuse(lanes, { limit, guaranteedPerLane: 1 }).flatMap(({ id }, index) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, distance: distances.get(id) ?? null, rank: index + 1 }];
  });
}

/** Some rows will turn out to be of generations that the ledger does not show. */
function overFetch(limit: number): number {
  return Math.min(1000, Math.max(50, limit * 2));
}

function distinct(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}
