import { setImmediate as nextTurn } from 'node:timers/promises';
import { subjectNames } from '../../common/domain/index-rows.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { NO_TRACER } from '../../common/ports/tracer.ts';
import type { BuildDependencies, BuildRequest, BuiltItem } from './build-item.ts';
import { addChunkRows, chunkPayload } from './chunk-rows.ts';
import { documentBatches } from './document-rows.ts';
import { CHUNKS_PER_WAVE, type ChunkOutcome, extractWave } from './extract-chunks.ts';
import type { ItemChunk } from './item-chunk.ts';
import { type ItemSource, itemSource } from './item-source.ts';
import { createKnownNames } from './known-names.ts';
import { loadChunks } from './load-document.ts';
import { createRowGatherer, type RowGatherer } from './row-gatherer.ts';
import { readChunkLine } from './text-tasks.ts';

/** Making the rows of so many chunks takes some milliseconds; requests get their turn in between. */
const CHUNKS_PER_TURN = 8;

/** Writes all rows of the item under the generation; `homes`: those its vectors are in. When it throws, nothing of it is being written any more. */
export async function writeItem(
  dependencies: BuildDependencies,
  request: BuildRequest,
  generation: number,
): Promise<BuiltItem & { readonly homes: ReadonlySet<number> }> {
  const { run, item, sizes, writer, signal } = request;
  const document = await loadChunks(dependencies, { scope: run.scope, item, sizes, signal });
  const { chunks } = document;
  const source = itemSource(item, generation, document.title);
  const gatherer = createRowGatherer(writer);
  try {
    const { lines, failedChunks } = await gatherChunks(dependencies, request, { source, chunks, gatherer });
    const { resolved, statements } = await dependencies.textWork.resolve(source, lines, signal);
    const chunkIds = chunks.map(({ id }) => id);
    for (const batch of documentBatches(source, resolved, chunkIds)) {
      signal.throwIfAborted();
      gatherer.append(batch);
      await gatherer.spill();
      await nextTurn();
    }
    await dependencies.statements.put(run.scope, generation, statements);
    const homes = await (dependencies.tracer ?? NO_TRACER).step('write rows', {}, () => gatherer.finish());
    return {
      homes,
      chunks: chunks.length,
      entityIds: resolved.entities.filter(({ isKeyword }) => !isKeyword).map(({ id }) => id),
      relationships: resolved.relations.length,
      failedChunks,
    };
  } finally {
    await gatherer.settled();
  }
}

interface Parts {
  readonly source: ItemSource;
  readonly chunks: readonly ItemChunk[];
  readonly gatherer: RowGatherer;
}

/** Extraction goes on while the rows of the chunks before are being written. */
async function gatherChunks(
  { logger, tracer = NO_TRACER }: BuildDependencies,
  request: BuildRequest,
  { source, chunks, gatherer }: Parts,
): Promise<{ readonly lines: readonly Buffer[]; readonly failedChunks: number }> {
  const { run, item, position, gate, ask, options, chunksPerBatch, signal } = request;
  const context: ModelCallContext = {
    scope: run.scope,
    purpose: 'extraction',
    runId: run.id,
    payer: run.payer,
    signal,
    onUsage: run.meter,
  };
  const extraction = { ask, source, context, options, gate, priority: position };
  const knownNames = createKnownNames();
  // As bytes, which are smaller than what they tell and are sent to a worker process as they are.
  const lines: Buffer[] = [];
  let reported = 0;
  let failedChunks = 0;
  for (let start = 0; start < chunks.length; start += CHUNKS_PER_WAVE) {
    // An item of one wave is counted as a whole soon enough.
    if (chunks.length > CHUNKS_PER_WAVE) await run.chunksBuilt(item.id, { completed: start, total: chunks.length });
    const wave = chunks.slice(start, start + CHUNKS_PER_WAVE);
    const extractions = await tracer.step('extract', { chunks: wave.length }, () =>
      extractWave(extraction, wave, knownNames.list()),
    );
    for (const [index, chunk] of wave.entries()) {
      const { extraction: found, error } = extractions[index] as ChunkOutcome;
      if (error !== undefined) {
        failedChunks += 1;
        // Not one of several could be read: it is not the chunks.
        if (failedChunks === chunks.length && chunks.length > 1) throw error;
        const place = { chunk: start + index + 1, chunks: chunks.length };
        logger.warn('cognify.chunk.failed', { runId: run.id, itemId: item.id, name: item.name, ...place, error });
      }
      const subjects = subjectNames(chunkPayload(source, chunk), source.title);
      knownNames.add(found.entities, subjects);
      lines.push(readChunkLine({ ...chunk, extraction: found, subjects }));
      const previousId = chunks[start + index - 1]?.id ?? null;
      addChunkRows(gatherer.rows, source, { chunk, extraction: found, previousId });
      if (index % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await nextTurn();
    }
    const done = start + wave.length;
    if (done - reported < chunksPerBatch || done >= chunks.length) continue;
    reported = done;
    await gatherer.spill(true);
    logger.info('cognify.chunks', { runId: run.id, itemId: item.id, chunks: done, totalChunks: chunks.length });
  }
  return { lines, failedChunks };
}
