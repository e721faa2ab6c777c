import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataItem } from '../../common/domain/data-item.ts';
import { subjectNames } from '../../common/domain/index-rows.ts';
import type { CognifyOptions } from '../../common/messaging/methods/cognify.ts';
import type { BlobStore } from '../../common/ports/blob-store.ts';
import { VersionConflictError } from '../../common/ports/document-store.ts';
import type { Extraction, Extractor } from '../../common/ports/extractor.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { Clock } from '../../common/ports/system.ts';
import { ItemErasedError, type Ledger } from '../../common/repositories/ledger.ts';
import type { ModelCache } from '../../common/repositories/model-cache.ts';
import type { ActiveRun } from '../../common/runs/run-executor.ts';
import { type ChunkSizes, chunkItem } from './chunk-item.ts';
import { addChunkRows, chunkPayload } from './chunk-rows.ts';
import { createDocumentEntities, type ResolvedEntities } from './document-entities.ts';
import { documentBatches } from './document-rows.ts';
import { CHUNKS_PER_WAVE, extractWave } from './extract-chunks.ts';
import { emptyBatch, type IndexBatch, rowCount } from './index-batch.ts';
import type { IndexWriter } from './index-writer.ts';
import { BuildStoppedError } from './item-builds.ts';
import type { ItemChunk } from './item-chunk.ts';
import { type ItemSource, itemSource } from './item-source.ts';
import { loadDocument } from './load-document.ts';
import type { PriorityGate } from './priority-gate.ts';
import { type RowStores, removeRows } from './remove-rows.ts';

/** Rows about a document that are written together. */
const ROWS_PER_WRITE = 2000;

export interface BuildDependencies extends RowStores {
  readonly blobs: BlobStore;
  readonly ledger: Ledger;
  readonly extractor: Extractor;
  readonly cache: ModelCache | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface BuildRequest {
  readonly run: ActiveRun;
  readonly item: DataItem;
  /** Position of the item in its run. */
  readonly position: number;
  readonly writer: IndexWriter;
  readonly gate: PriorityGate;
  readonly options: CognifyOptions;
  readonly sizes: ChunkSizes;
  readonly chunksPerBatch: number;
  readonly signal: AbortSignal;
}

export interface BuiltItem {
  readonly chunks: number;
  readonly entityIds: readonly string[];
  readonly relationships: number;
}

/** The item has no parsed content: it was forgotten meanwhile, or the blob store lost it. */
export class ContentMissingError extends Error {
  override readonly name = 'ContentMissingError';
}

/**
 * Builds one item under a new generation and commits it in the ledger; until then nothing of it is visible. Null when the
 * item was forgotten or reset meanwhile. Whatever else happens, its rows are removed again and the error goes on.
 */
export async function buildItem(dependencies: BuildDependencies, request: BuildRequest): Promise<BuiltItem | null> {
  const { ledger } = dependencies;
  const { run, item, signal } = request;
  let generation: number;
  try {
    generation = await ledger.begin(run.scope, item.id);
  } catch (error) {
    if (error instanceof ItemErasedError) return null;
    throw error;
  }
  try {
    const built = await write(dependencies, request, generation);
    signal.throwIfAborted();
    await commit(dependencies, request, generation, built);
    return built;
  } catch (error) {
    await rollBack(dependencies, request, generation);
    // A conflict means that the generation may not become visible: erased, reset, or another attempt is under way.
    if (error instanceof VersionConflictError || signal.reason instanceof BuildStoppedError) return null;
    throw error;
  }
}

async function write(dependencies: BuildDependencies, request: BuildRequest, generation: number): Promise<BuiltItem> {
  const { run, item, sizes } = request;
  const document = await loadDocument(dependencies.blobs, run.scope, item.id);
  if (document === null) throw new ContentMissingError(`item ${item.id} has no content`);
  const source = itemSource(item, generation, document.title);
  const chunks = chunkItem(item.id, document, sizes);
  const resolved = await writeChunks(dependencies, request, source, chunks);
  const chunkIds = chunks.map(({ id }) => id);
  await writeDocument(request, documentBatches(source, resolved, chunkIds));
  return {
    chunks: chunks.length,
    entityIds: resolved.entities.map(({ id }) => id),
    relationships: resolved.relations.length,
  };
}

/** Small batches are made one per turn and written together. */
async function writeDocument({ writer, signal }: BuildRequest, batches: Iterable<IndexBatch>): Promise<void> {
  let gathered = emptyBatch();
  for (const { entries, embeddings, nodes, edges } of batches) {
    signal.throwIfAborted();
    gathered.entries.push(...entries);
    gathered.embeddings.push(...embeddings);
    gathered.nodes.push(...nodes);
    gathered.edges.push(...edges);
    if (rowCount(gathered) >= ROWS_PER_WRITE) {
      await writer.write(gathered);
      gathered = emptyBatch();
    }
    await nextTurn();
  }
  if (rowCount(gathered) > 0) await writer.write(gathered);
}

/** Extraction of a batch goes on while the rows of the batch before are being written. */
async function writeChunks(
  dependencies: BuildDependencies,
  request: BuildRequest,
  source: ItemSource,
  chunks: readonly ItemChunk[],
): Promise<ResolvedEntities> {
  const { run, item, position, writer, gate, options, chunksPerBatch, signal } = request;
  const { logger, extractor, cache } = dependencies;
  const context: ModelCallContext = { scope: run.scope, purpose: 'extraction', runId: run.id, signal };
  const entities = createDocumentEntities();
  let firstSentence = 0;
  let batch = emptyBatch();
  let batchedChunks = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for (let start = 0; start < chunks.length; start += CHUNKS_PER_WAVE) {
      const wave = chunks.slice(start, start + CHUNKS_PER_WAVE);
      const extraction = { extractor, cache, scope: run.scope, source, context, options, gate, priority: position };
      const extractions = await extractWave(extraction, wave, entities.knownNames());
      for (const [index, chunk] of wave.entries()) {
        const found = extractions[index] as Extraction;
        if (found.usage !== null) run.meter(found.usage);
        entities.add(chunk.id, found, subjectNames(chunkPayload(source, chunk), source.title));
        const previousId = chunks[start + index - 1]?.id ?? null;
        addChunkRows(batch, source, { chunk, extraction: found, firstSentence, previousId });
        firstSentence += found.sentences.length;
        // Making rows costs about a millisecond a chunk: requests get their turn in between.
        if (index % 8 === 7) await nextTurn();
      }
      batchedChunks += wave.length;
      const isLast = start + CHUNKS_PER_WAVE >= chunks.length;
      if (batchedChunks < chunksPerBatch && !isLast) continue;
      await writing;
      writing = writer.write(batch);
      // Awaited by the next batch or at the end; a failure in between must not count as unhandled.
      writing.catch(() => {});
      batch = emptyBatch();
      batchedChunks = 0;
      const fields = { runId: run.id, itemId: item.id, chunks: start + wave.length, totalChunks: chunks.length };
      if (chunks.length > chunksPerBatch) logger.info('cognify.chunks', fields);
    }
    await writing;
  } finally {
    // Nothing may be written after the roll-back that follows a failure.
    await Promise.allSettled([writing]);
  }
  return entities.resolve();
}

async function commit(
  dependencies: BuildDependencies,
  { run, item }: BuildRequest,
  generation: number,
  built: BuiltItem,
): Promise<void> {
  const { ledger, clock, logger } = dependencies;
  const counts = { chunks: built.chunks, entities: built.entityIds.length, relationships: built.relationships };
  const by = { runId: run.id, counts };
  await run.commit(ledger.commitWrites(item.id, generation, item.contentHash, clock.now().toISOString(), by));
  if (generation === 1) return;
  try {
    await removeRows(dependencies, run.scope, { item: item.id, exceptGeneration: generation });
  } catch (error) {
    // Superseded rows are invisible; the next build of the item or its erasure removes them.
    logger.warn('cognify.superseded.left', { runId: run.id, itemId: item.id, error });
  }
}

async function rollBack(
  dependencies: BuildDependencies,
  { run, item }: BuildRequest,
  generation: number,
): Promise<void> {
  const { ledger, logger } = dependencies;
  try {
    const entry = (await ledger.entries(run.scope, [item.id])).get(item.id);
    // The commit went through although its answer was lost.
    if (entry?.generation === generation) return;
    await removeRows(dependencies, run.scope, { item: item.id, generation });
    await ledger.settle(run.scope, item.id, generation);
  } catch (error) {
    // The rows are invisible and the sweeper finds them by their pending entry.
    logger.warn('cognify.rollback.failed', { runId: run.id, itemId: item.id, error });
  }
}
