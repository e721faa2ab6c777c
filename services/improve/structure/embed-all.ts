import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';

const TEXTS_PER_CALL = 32;
const CALLS_AT_ONCE = 4;

/** In batches, a few at a time; one vector a text, in order. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  context: ModelCallContext,
): Promise<readonly Float32Array[]> {
  const gate = createConcurrencyLimit(CALLS_AT_ONCE);
  const slices = Array.from({ length: Math.ceil(texts.length / TEXTS_PER_CALL) }, (_, at) =>
    texts.slice(at * TEXTS_PER_CALL, (at + 1) * TEXTS_PER_CALL),
  );
  const made = await Promise.all(
    slices.map((slice) =>
      gate(async () => {
        context.signal?.throwIfAborted();
        return embedder.embed(slice, context);
      }),
    ),
  );
  return made.flat();
}
