import { engramError } from '../../kernel/errors.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { EmbedderSource, EmbeddingChoice } from '../../ports/embedders.ts';
import type { Embedder } from '../../ports/models.ts';
import type { VectorSpace } from '../../storage/ports/vector-index.ts';
import type { VectorIndexVersions } from './vector-index-versions.ts';

export interface EmbeddingDependencies {
  readonly vectorVersions: Pick<VectorIndexVersions, 'active'>;
  readonly embedders: EmbedderSource;
}

/** Index version of a dataset's vectors, and an embedder whose vectors can be compared with them. */
export interface ActiveEmbedding {
  readonly number: number;
  /** For the index that has them. */
  readonly scope: DatasetScope;
  readonly embedder: Embedder;
  /** There are vectors, or were until now. */
  readonly isSettled: boolean;
  /** The one that the dataset asks for; null: as its tenant's. */
  readonly requested: EmbeddingChoice | null;
}

/**
 * Returns the embedding as it is now. A dataset without vectors gets those of the model that is wanted. Errors: `EmbeddingDimensionMismatchError`
 * when the model of its vectors is no longer configured, and those of `EmbedderSource.wanted`.
 */
export async function activeEmbedding(
  { vectorVersions, embedders }: EmbeddingDependencies,
  dataset: DatasetScope,
): Promise<ActiveEmbedding> {
  const { number, scope, space, requested } = await vectorVersions.active(dataset);
  if (space === null) {
    return { number, scope, embedder: await embedders.wanted(dataset.tenant, requested), isSettled: false, requested };
  }
  const embedder = await embedders.of(dataset.tenant, space);
  if (embedder !== null) return { number, scope, embedder, isSettled: true, requested };
  throw noSuchEmbedder(space, (await embedders.wanted(dataset.tenant, requested)).space);
}

function noSuchEmbedder(space: VectorSpace, configured: VectorSpace) {
  return engramError(
    'EmbeddingDimensionMismatchError',
    `The dataset's vectors were made by ${space.model} with ${space.dimensions} dimensions; the configured embedder is ${configured.model} with ${configured.dimensions}. Configure the former embedder, or forget the dataset's memory (memory_only) and cognify it again; a Dataset resource has its vectors made anew by itself.`,
  );
}
