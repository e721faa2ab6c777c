import { slices } from '../kernel/slices.ts';
import { mapConcurrently } from '../platform/async/map-concurrently.ts';
import type { Embedder, ModelCallContext } from '../ports/models.ts';

/** Number of texts in one call, and of calls at the same time. */
export interface EmbeddingBatches {
  readonly embeddingBatchSize: number;
  readonly embeddingConcurrency: number;
}

/** Embeds texts in batches, some of them at the same time; one vector per text, in order. The first failure stops the rest. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  context: ModelCallContext,
  { embeddingBatchSize, embeddingConcurrency }: EmbeddingBatches,
): Promise<readonly Float32Array[]> {
  const batches = [...slices(texts, embeddingBatchSize)];
  const vectors = await mapConcurrently(batches, embeddingConcurrency, async (batch) => {
    context.signal?.throwIfAborted();
    return embedder.embed(batch, context);
  });
  return vectors.flat();
}
