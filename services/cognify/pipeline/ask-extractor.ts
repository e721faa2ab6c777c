import { createHash } from 'node:crypto';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Extraction, ExtractionInput, Extractor } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { ModelCache, ModelCacheKey } from '../repositories/model-cache.ts';
import type { ItemSource } from './item-source.ts';

export interface ChunkQuestion {
  readonly input: ExtractionInput;
  readonly source: ItemSource;
  readonly context: ModelCallContext;
}

/** The extraction of one chunk; its usage is null when nothing was paid for it. */
export type AskExtractor = (question: ChunkQuestion) => Promise<Extraction>;

/**
 * Asks the extractor for each distinct question once: answers are kept in the cache, and a question that is under way is
 * waited for. Without a cache the extractor costs nothing and is simply asked.
 */
export function createAskExtractor(extractor: Extractor, cache: ModelCache | null, scope: DatasetScope): AskExtractor {
  if (cache === null) return ({ input, context }) => extractor.extract(input, context);
  const underWay = new Map<string, Promise<Extraction>>();

  const ask = async ({ input, source, context }: ChunkQuestion, key: ModelCacheKey): Promise<Extraction> => {
    const known = await cache.get(scope, key);
    if (known !== null) return { ...(known as unknown as Extraction), usage: null };
    const extraction = await extractor.extract(input, context);
    const kept = { ...extraction, usage: null } as unknown as JsonObject;
    await cache.put(scope, key, kept, source.createdAt);
    return extraction;
  };

  return async (question) => {
    const key = keyOf(extractor, question);
    const id = `${key.promptHash}/${key.chunkHash}/${key.contextHash}`;
    const before = underWay.get(id);
    if (before !== undefined) {
      try {
        return { ...(await before), usage: null };
      } catch {
        // The other item failed or was stopped; this one may still be wanted.
        question.context.signal?.throwIfAborted();
      }
    }
    const own = ask(question, key);
    underWay.set(id, own);
    try {
      return await own;
    } finally {
      if (underWay.get(id) === own) underWay.delete(id);
    }
  };
}

function keyOf(extractor: Extractor, { input, source }: ChunkQuestion): ModelCacheKey {
  const { text, headings, customPrompt, graphModel, title, knownNames } = input;
  return {
    model: extractor.version,
    promptHash: sha256([headings, customPrompt ?? null, graphModel ?? null]),
    // A file that ends in a line break says nothing else than one that does not.
    chunkHash: sha256(text.trimEnd()),
    contextHash: sha256([title ?? null, knownNames.map(({ name, type }) => [name, type])]),
    item: source.item.id,
  };
}

function sha256(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
