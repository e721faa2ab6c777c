import { isEngramError } from '../../common/kernel/errors.ts';
import type { CognifyOptions } from '../../common/platform/messaging/methods/cognify.ts';
import type { Extraction, ExtractionInput, KnownName } from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { AskExtractor } from './ask-extractor.ts';
import type { ItemChunk } from './item-chunk.ts';
import { blameOf } from './item-fault.ts';
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

const SUMMARY_LENGTH = 200;

/** What a chunk gives. A failed extraction leaves its text, which is found like any other, without entities. */
export interface ChunkOutcome {
  readonly extraction: Extraction;
  /** Why there are no entities. */
  readonly error?: unknown;
}

/**
 * Extractions of one wave, in order. A failure of one chunk costs its entities; what would fail all chunks is thrown, and then
 * nothing of the wave is under way any more.
 */
export async function extractWave(
  settings: ExtractChunksOptions,
  chunks: readonly ItemChunk[],
  knownNames: readonly KnownName[],
): Promise<readonly ChunkOutcome[]> {
  settings.context.signal?.throwIfAborted();
  const settled = await Promise.allSettled(
    chunks.map((chunk) => settings.gate.run(settings.priority, () => extractChunk(settings, chunk, knownNames))),
  );
  return settled.map((outcome, index) => {
    if (outcome.status === 'fulfilled') return { extraction: outcome.value };
    if (settings.context.signal?.aborted === true || !isOfChunk(outcome.reason)) throw outcome.reason;
    return { extraction: withoutEntities(chunks[index] as ItemChunk), error: outcome.reason };
  });
}

/** A request that the provider refuses as such would be refused for other chunks too. */
function isOfChunk(error: unknown): boolean {
  return blameOf(error) === 'item' && !(isEngramError(error) && error.wireName === 'CogneeValidationError');
}

/** The chunk as one sentence that mentions nothing; the beginning of its text stands for a summary. */
function withoutEntities({ text }: ItemChunk): Extraction {
  const summary = text.slice(0, SUMMARY_LENGTH).trim();
  return { entities: [], relations: [], sentences: [{ text, start: 0, entities: [] }], summary, usage: null };
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
