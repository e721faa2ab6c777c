import { createHash } from 'node:crypto';
import type { JsonObject } from '../../common/domain/json.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { CognifyOptions } from '../../common/messaging/methods/cognify.ts';
import type { Extraction, ExtractionInput, Extractor, KnownName } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { ModelCache } from '../../common/repositories/model-cache.ts';
import type { ItemChunk } from './item-chunk.ts';
import type { ItemSource } from './item-source.ts';
import type { PriorityGate } from './priority-gate.ts';

export interface ExtractChunksOptions {
  readonly extractor: Extractor;
  /** Null: the extractor costs nothing. */
  readonly cache: ModelCache | null;
  readonly scope: DatasetScope;
  readonly source: ItemSource;
  readonly context: ModelCallContext;
  readonly options: Pick<CognifyOptions, 'customPrompt' | 'graphModel'>;
  readonly gate: PriorityGate;
  /** Of the item within its run: earlier items end first, so progress is even and little is lost with a worker. */
  readonly priority: number;
}

/**
 * Chunks that are extracted at the same time and know the same names. A constant, so that the result does not depend on
 * the machine: a resumed run builds the same graph.
 */
export const CHUNKS_PER_WAVE = 16;

/** Extractions of one wave, in order. When it throws, nothing of the wave is under way any more. */
export async function extractWave(
  settings: ExtractChunksOptions,
  chunks: readonly ItemChunk[],
  knownNames: readonly KnownName[],
): Promise<readonly Extraction[]> {
  settings.context.signal?.throwIfAborted();
  const settled = await Promise.allSettled(
    chunks.map((chunk) => settings.gate.run(settings.priority, () => extractChunk(settings, chunk, knownNames))),
  );
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

async function extractChunk(
  { extractor, cache, scope, source, context, options }: ExtractChunksOptions,
  chunk: ItemChunk,
  knownNames: readonly KnownName[],
): Promise<Extraction> {
  context.signal?.throwIfAborted();
  const { customPrompt, graphModel } = options;
  const input: ExtractionInput = {
    text: chunk.text,
    documentName: source.title ?? source.item.name,
    headings: chunk.headings,
    knownNames,
    ...(customPrompt ? { customPrompt } : {}),
    ...(graphModel ? { graphModel } : {}),
  };
  if (cache === null) return extractor.extract(input, context);
  const key = { model: extractor.version, promptHash: promptHash(input), chunkHash: chunk.contentHash };
  const known = await cache.get(scope, key);
  if (known !== null) return { ...(known as unknown as Extraction), usage: null };
  const extraction = await extractor.extract(input, context);
  await cache.put(scope, key, {
    item: source.item.id,
    answer: { ...extraction, usage: null } as unknown as JsonObject,
    at: source.createdAt,
  });
  return extraction;
}

/** Names known from earlier chunks are left out: with them no answer would ever be found again after an edit. */
function promptHash({ documentName, headings, customPrompt, graphModel }: ExtractionInput): string {
  const shaping = [documentName, headings, customPrompt ?? null, graphModel ?? null];
  return createHash('sha256').update(JSON.stringify(shaping)).digest('hex');
}
