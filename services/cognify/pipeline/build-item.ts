import { setImmediate as nextTurn } from 'node:timers/promises';
import { contentVersion, type DataItem } from '../../common/domain/data-item.ts';
import { subjectNames } from '../../common/domain/index-rows.ts';
import type { ConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import { describeItemError } from '../../common/platform/jobs/run-recorder.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { Clock } from '../../common/ports/system.ts';
import { NO_TRACER, type Tracer } from '../../common/ports/tracer.ts';
import { LeaseLostError } from '../../common/ports/work-queue.ts';
import type { Attempt, AttemptEnd, Ledger } from '../../common/records/cognify/ledger.ts';
import type { Statements } from '../../common/records/cognify/statements.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ActiveRun } from '../model.ts';
import { type AppliedOntology, applyOntology, WITHOUT_ONTOLOGY } from './apply-ontology.ts';
import {
  type AskExtractor,
  CHUNKS_PER_WAVE,
  type ChunkOutcome,
  createKnownNames,
  extractWave,
} from './extract-chunks.ts';
import { createRowGatherer, type IndexWriter, type RowGatherer } from './index-writer.ts';
import { BuildStoppedError, type ItemBuilds } from './item-builds.ts';
import { blameOf } from './item-failures.ts';
import { addChunkRows, chunkPayload, documentBatches } from './item-rows.ts';
import { type ChunkSizes, type ItemChunk, type ItemSource, itemSource } from './model.ts';
import { type RowStores, removeRows } from './remove-rows.ts';
import { isNote, isShortNote, type NameOfUser } from './speaker.ts';
import { readChunkLine } from './text-tasks.ts';
import { type LoadDependencies, loadChunks } from './text-work.ts';
import { timeNamed, withTimes } from './times.ts';

export interface BuildDependencies extends RowStores, LoadDependencies {
  readonly ledger: Ledger;
  readonly builds: ItemBuilds;
  readonly statements: Statements;
  readonly clock: Clock;
  /** Absent: no traces are recorded. */
  readonly tracer?: Tracer;
}

interface BuildRequest {
  readonly run: ActiveRun;
  readonly item: DataItem;
  /** Failed tries of its content so far. */
  readonly triesBefore: number;
  /** Position of the item in its run. */
  readonly position: number;
  /** Reserves a generation in the ledger; null: the item was erased. */
  readonly begin: (attempt: Attempt) => Promise<number | null>;
  readonly writer: IndexWriter;
  readonly limit: ConcurrencyLimit;
  readonly ask: AskExtractor;
  readonly nameOfUser: NameOfUser;
  readonly options: CognifyOptions;
  /** Null: entities stay as they were extracted. */
  readonly ontology: AppliedOntology | null;
  readonly sizes: ChunkSizes;
  readonly chunksPerBatch: number;
  /** Copies vectors of an item that went to former index versions into the active one. */
  readonly gatherVectors: (origin: Provenance, versions: ReadonlySet<number>, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface BuiltItem {
  readonly chunks: number;
  readonly entityIds: readonly string[];
  readonly relationships: number;
  /** Chunks without entities, because their extraction failed. */
  readonly failedChunks: number;
}

/**
 * Builds one item under a new generation and commits it in the ledger; nothing of it is visible before. Returns null when the
 * item was forgotten or reset meanwhile. On any other error its rows are removed and the error is thrown; a failure of the item
 * itself is recorded in the ledger. When the process dies meanwhile, the try stays counted.
 */
export async function buildItem(dependencies: BuildDependencies, request: BuildRequest): Promise<BuiltItem | null> {
  const { run, item, triesBefore } = request;
  const generation = await request.begin({ item: item.id, version: contentVersion(item), tries: triesBefore + 1 });
  if (generation === null) return null;
  return dependencies.builds.track({ scope: run.scope, item: item.id, generation }, request.signal, (signal) =>
    buildGeneration(dependencies, { ...request, signal }, generation),
  );
}

async function buildGeneration(
  dependencies: BuildDependencies,
  request: BuildRequest,
  generation: number,
): Promise<BuiltItem | null> {
  const { signal } = request;
  try {
    const built = await writeItem(dependencies, request, generation);
    signal.throwIfAborted();
    await request.gatherVectors({ item: request.item.id, generation }, built.versions, signal);
    await commit(dependencies, request, generation, built);
    return built;
  } catch (error) {
    // A conflict means that the generation must not become visible: the item was erased or reset, or another attempt runs.
    const isOver = error instanceof VersionConflictError || signal.reason instanceof BuildStoppedError;
    await rollBack(dependencies, request, generation, endOf(dependencies, request, isOver ? null : error));
    if (isOver) return null;
    throw error;
  }
}

/** Writes all rows of the item; `versions`: index versions that its vectors went to. When it throws, no write is in flight any more. */
async function writeItem(
  dependencies: BuildDependencies,
  request: BuildRequest,
  generation: number,
): Promise<BuiltItem & { readonly versions: ReadonlySet<number> }> {
  const { run, item, sizes, writer, signal } = request;
  const document = await loadChunks(dependencies, { scope: run.scope, item, sizes, signal });
  const { chunks, title, writtenAt, code } = document;
  const speaker = document.author ?? (isNote(item, chunks.length) ? await request.nameOfUser(item) : null);
  const source = itemSource(item, generation, { title, speaker, writtenAt, code, beginning: chunks[0]?.text ?? '' });
  const gatherer = createRowGatherer(writer);
  try {
    const { lines, failedChunks } = await gatherChunks(dependencies, request, { source, chunks, gatherer });
    const { resolved: extracted, statements } = await dependencies.textWork.resolve(source, lines, signal);
    const { ontology } = request;
    const resolved =
      ontology === null ? { ...extracted, ...WITHOUT_ONTOLOGY } : await applyOntology(ontology, extracted);
    const chunkIds = chunks.map(({ id }) => id);
    for (const batch of documentBatches(source, resolved, chunkIds)) {
      signal.throwIfAborted();
      gatherer.append(batch);
      await gatherer.spill();
      await nextTurn();
    }
    await dependencies.statements.put(run.scope, generation, statements);
    const versions = await (dependencies.tracer ?? NO_TRACER).step('write rows', {}, () => gatherer.finish());
    return {
      versions,
      chunks: chunks.length,
      entityIds: resolved.entities.filter(({ isKeyword }) => !isKeyword).map(({ id }) => id),
      relationships: resolved.relations.length,
      failedChunks,
    };
  } finally {
    await gatherer.settled();
  }
}

/** Making the rows of this many chunks takes some milliseconds; requests get their turn in between. */
const CHUNKS_PER_TURN = 8;

interface Parts {
  readonly source: ItemSource;
  readonly chunks: readonly ItemChunk[];
  readonly gatherer: RowGatherer;
}

/** Extracts the chunks and makes their rows, while the rows of earlier chunks are being written. */
async function gatherChunks(
  { logger, tracer = NO_TRACER }: BuildDependencies,
  request: BuildRequest,
  { source, chunks, gatherer }: Parts,
): Promise<{ readonly lines: readonly Buffer[]; readonly failedChunks: number }> {
  const { run, item, position, limit, ask, options, chunksPerBatch, signal } = request;
  const context: ModelCallContext = {
    scope: run.scope,
    purpose: 'extraction',
    runId: run.id,
    payer: run.payer,
    signal,
    onUsage: run.meter,
  };
  const settings = { ask, source, context, options, limit, priority: position };
  const knownNames = createKnownNames();
  const isShort = isShortNote(item, chunks.length);
  // As bytes, which are smaller than the objects and are sent to a worker process unchanged.
  const lines: Buffer[] = [];
  let reported = 0;
  let failedChunks = 0;
  for (let start = 0; start < chunks.length; start += CHUNKS_PER_WAVE) {
    // An item of one wave is counted as a whole soon enough.
    if (chunks.length > CHUNKS_PER_WAVE) await run.chunksBuilt(item.id, { completed: start, total: chunks.length });
    const wave = chunks.slice(start, start + CHUNKS_PER_WAVE);
    const extractions = await tracer.step('extract', { chunks: wave.length }, () =>
      extractWave(settings, wave, knownNames.list()),
    );
    for (const [index, chunk] of wave.entries()) {
      const { extraction, error } = extractions[index] as ChunkOutcome;
      if (error !== undefined) {
        failedChunks += 1;
        // When every one of several chunks fails, the chunks are not the cause.
        if (failedChunks === chunks.length && chunks.length > 1) throw error;
        const place = { chunk: start + index + 1, chunks: chunks.length };
        logger.warn('cognify.chunk.failed', { runId: run.id, itemId: item.id, name: item.name, ...place, error });
      }
      const found = withTimes(extraction, chunk, {
        writtenAt: source.writtenAt ?? (isShort ? source.createdAt : null),
      });
      const subjects = subjectsOf(source, chunk);
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

/** Names that the headings of a chunk give. A file of code is an entity under its path: its bare name is none beside it. */
function subjectsOf(source: ItemSource, chunk: ItemChunk): readonly string[] {
  if (source.code !== null) return [];
  return subjectNames(chunkPayload(source, chunk), source.title).filter((name) => timeNamed(name) === null);
}

async function commit(
  dependencies: BuildDependencies,
  { run, item, options }: BuildRequest,
  generation: number,
  built: BuiltItem,
): Promise<void> {
  const { ledger, clock, logger } = dependencies;
  const counts = {
    chunks: built.chunks,
    entities: built.entityIds.length,
    relationships: built.relationships,
    ...(built.failedChunks === 0 ? {} : { failed_chunks: built.failedChunks }),
  };
  const by = { runId: run.id, counts, chunkSize: options.chunkSize ?? null };
  await run.commit(ledger.commitWrites(item.id, generation, contentVersion(item), clock.now().toISOString(), by));
  if (generation === 1) return;
  try {
    await removeRows(dependencies, run.scope, { item: item.id, beforeGeneration: generation });
  } catch (error) {
    // Superseded rows are invisible; the next build of the item or its erasure removes them.
    logger.warn('cognify.superseded.cleanup_failed', { runId: run.id, itemId: item.id, error });
  }
}

/** Decides what the ledger keeps of a failed attempt: the try counts when the item itself failed or the lease was lost. */
function endOf({ clock }: BuildDependencies, { signal, run, triesBefore }: BuildRequest, error: unknown): AttemptEnd {
  if (signal.reason instanceof LeaseLostError || error instanceof LeaseLostError) return {};
  if (signal.aborted || error === null || blameOf(error) !== 'item') return { tries: triesBefore };
  return { failure: { ...describeItemError(error), at: clock.now().toISOString(), runId: run.id } };
}

async function rollBack(
  dependencies: BuildDependencies,
  { run, item }: BuildRequest,
  generation: number,
  end: AttemptEnd,
): Promise<void> {
  const { ledger, logger } = dependencies;
  try {
    const entry = (await ledger.entries(run.scope, [item.id])).get(item.id);
    // The commit succeeded although its answer was lost.
    if (entry?.generation === generation) return;
    await removeRows(dependencies, run.scope, { item: item.id, generation });
    await ledger.settle(run.scope, item.id, generation, end);
  } catch (error) {
    // The rows are invisible, and the sweeper finds them by their pending entry.
    logger.warn('cognify.rollback.failed', { runId: run.id, itemId: item.id, error });
  }
}
