import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Embedder } from '../../ports/models.ts';
import { createHashingModel, type HashingModel } from './hashing-model.ts';

const HASHING_MODEL_NAME = 'builtin/hashing-v1';
/** Other work gets its turn after this long. */
const SLICE_MS = 5;

/**
 * The embedder of installs without a model: lexical vectors that need no download, no statistics and no state. It adds
 * to BM25 what exact words cannot: shared stems, compounds, misspellings. It knows no synonyms.
 */
export function createHashingEmbedder(options: { readonly dimensions?: number } = {}): Embedder {
  const dimensions = options.dimensions ?? 384;
  if (!Number.isInteger(dimensions) || dimensions < 8 || dimensions > 65_536) {
    throw new RangeError(
      `Dimensions of the hashing embedder must be a whole number from 8 to 65536, got ${dimensions}.`,
    );
  }
  let model: HashingModel | undefined;
  return {
    space: { model: HASHING_MODEL_NAME, dimensions },
    maxInputTokens: 1_000_000,
    async embed(texts, context) {
      model ??= createHashingModel(dimensions);
      const vectors: Float32Array[] = [];
      let turnEnds = performance.now() + SLICE_MS;
      for (const text of texts) {
        if (performance.now() > turnEnds) {
          await nextTurn();
          context.signal?.throwIfAborted();
          turnEnds = performance.now() + SLICE_MS;
        }
        vectors.push(model.vectorOf(text));
      }
      return vectors;
    },
  };
}
