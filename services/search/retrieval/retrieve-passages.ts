import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { withoutUndefined } from '../../common/kernel/objects.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import type { VectorSpace } from '../../common/storage/ports/vector-index.ts';
import { modelCallContext, type SearchRequest } from '../model.ts';
import type { JoinedDataset } from './joined-stores.ts';
import type { InfluenceOptions } from './learned-weights.ts';
import type { KnowledgeLimits, QuoteOptions, Retrieval, RetrievalDependencies } from './retrieval.ts';

/** The vector of a query for one dataset; null for a blank query. */
export type QueryVector = {
  readonly values: Float32Array;
  /** Scope of the vectors that it can be compared with. */
  readonly version: DatasetScope;
  readonly space: VectorSpace;
} | null;

/** The query in the vector spaces of the searched datasets. */
export type QueryEmbedding = ReturnType<typeof embedQuery>;

/** Embeds the query on demand, once for each embedding model. */
export function embedQuery(deps: RetrievalDependencies, request: SearchRequest) {
  const vectorsBySpace = new Map<string, Promise<readonly Float32Array[]>>();
  return {
    /** Throws `EmbeddingDimensionMismatchError`, and errors of the embedding model. */
    async of(dataset: DatasetRef) {
      if (request.query.trim() === '') return null;
      const { scope: version, embedder } = await activeEmbedding(deps, scopeOf(dataset));
      const { space } = embedder;
      const key = `${space.dimensions} ${space.model}`;
      const vectors = vectorsBySpace.get(key) ?? embedder.embed([request.query], modelCallContext(request));
      vectorsBySpace.set(key, vectors);
      const [values] = await vectors;
      return values === undefined ? null : { values, version, space };
    },
  };
}

/** Retrieves the passages of one dataset for the query of a request. */
export function retrievePassages(
  { retriever, clock }: RetrievalDependencies,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly influence: InfluenceOptions;
    readonly isForPassages?: boolean;
    readonly knowledge?: KnowledgeLimits;
    readonly quotes?: QuoteOptions;
    /** Ranks the passages of these datasets as one; `dataset` is one of them. */
    readonly joined?: readonly JoinedDataset[];
  },
): Promise<Retrieval> {
  const { dataset, vector, limit, influence, isForPassages, knowledge, quotes, joined } = target;
  const { query, view, nodeSets, context } = request;
  return retriever.retrieve({
    scope: scopeOf(dataset),
    query,
    vector: vector?.values ?? null,
    limit,
    influence,
    // Relative dates of the question count from the time of the view.
    now: new Date(view?.asOf ?? clock.now()),
    ...withoutUndefined({
      vectorVersion: vector?.version,
      view,
      nodeSets,
      isForPassages,
      knowledge,
      quotes,
      joined,
      signal: context.signal,
    }),
  });
}
