import type { DatasetScope } from '../../common/kernel/scope.ts';
import {
  type ActiveEmbedding,
  activeEmbedding,
  type EmbeddingDependencies,
} from '../../common/records/cognify/active-embedding.ts';
import type { PassReads } from '../engine/pass-reads.ts';

/** Of the vectors of the dataset, read once for the stages that follow one another. Errors: see `activeEmbedding`. */
export function embeddingOf(
  deps: EmbeddingDependencies,
  scope: DatasetScope,
  reads: PassReads,
): Promise<ActiveEmbedding> {
  return reads.once('embedding', () => activeEmbedding(deps, scope));
}
