import type { CognifyOptions } from '../../common/messaging/methods/cognify.ts';
import type { Extraction, ExtractionInput, KnownName } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { AskExtractor } from './ask-extractor.ts';
import type { ItemChunk } from './item-chunk.ts';
import type { ItemSource } from './item-source.ts';
import type { PriorityGate } from './priority-gate.ts';

export interface ExtractChunksOptions {
  readonly ask: AskExtractor;
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
  { ask, source, context, options }: ExtractChunksOptions,
  chunk: ItemChunk,
  knownNames: readonly KnownName[],
): Promise<Extraction> {
  context.signal?.throwIfAborted();
  const { customPrompt, graphModel } = options;
  const input: ExtractionInput = {
    text: chunk.text,
    documentName: source.title ?? source.item.name,
    ...(source.title === null ? {} : { title: source.title }),
    headings: chunk.headings,
    knownNames,
    ...(customPrompt ? { customPrompt } : {}),
    ...(graphModel ? { graphModel } : {}),
  };
  return ask({ input, source, context });
}
