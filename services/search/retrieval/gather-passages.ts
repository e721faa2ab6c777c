import { payerOf } from '../../common/domain/budget.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import type { VectorSpace } from '../../common/storage/ports/vector-index.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { InfluenceWish } from './learned-weights.ts';
import type { Retrieval, RetrievalDependencies } from './retrieval.ts';

/** What one dataset has to say about a query. */
interface Material {
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
  deps: Pick<RetrievalDependencies, 'vectorVersions' | 'embedders'>,
  request: SearchRequest,
): QueryEmbedding {
  const { tenant } = request.principal;
  const { signal } = request.context;
  const { onUsage } = request;
  const context = {
    scope: { tenant },
    purpose: 'query' as const,
    payer: payerOf(request.principal),
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
  deps: Pick<RetrievalDependencies, 'retriever' | 'clock'>,
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
    ...(vector === null ? {} : { vectorVersion: vector.home }),
    limit,
    influence,
    now: deps.clock.now(),
    ...(request.view === undefined ? {} : { view: request.view }),
    ...(request.nodeSets === undefined ? {} : { nodeSets: request.nodeSets }),
    ...(request.context.signal === undefined ? {} : { signal: request.context.signal }),
  });
  return { dataset, passages: retrieval.passages, retrieval };
}
