import { contentVersion, type DataItem } from '../../common/domain/data-item.ts';
import { describeItemError } from '../../common/platform/jobs/run-recorder.ts';
import type { CognifyOptions } from '../../common/platform/messaging/methods/cognify.ts';
import type { DocumentLoader } from '../../common/ports/documents.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Tracer } from '../../common/ports/tracer.ts';
import { LeaseLostError } from '../../common/ports/work-queue.ts';
import { type AttemptEnd, ItemErasedError, type Ledger } from '../../common/records/cognify/ledger.ts';
import type { Statements } from '../../common/records/cognify/statements.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { ActiveRun } from '../runs/run-executor.ts';
import type { AskExtractor } from './ask-extractor.ts';
import type { ChunkSizes } from './chunk-item.ts';
import type { IndexWriter } from './index-writer.ts';
import { BuildStoppedError, type ItemBuilds } from './item-builds.ts';
import { blameOf } from './item-fault.ts';
import type { PriorityGate } from './priority-gate.ts';
import { type RowStores, removeRows } from './remove-rows.ts';
import type { TextWork } from './text-work.ts';
import { writeItem } from './write-item.ts';

export interface BuildDependencies extends RowStores {
  readonly blobs: BlobStore;
  /** Reads a document again whose stored text is damaged; absent: it stays so. */
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  readonly textWork: TextWork;
  readonly ledger: Ledger;
  readonly builds: ItemBuilds;
  readonly statements: Pick<Statements, 'put' | 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
}

export interface BuildRequest {
  readonly run: ActiveRun;
  readonly item: DataItem;
  /** How often its content was tried in vain before. */
  readonly triesBefore: number;
  /** Position of the item in its run. */
  readonly position: number;
  readonly writer: IndexWriter;
  readonly gate: PriorityGate;
  readonly ask: AskExtractor;
  readonly options: CognifyOptions;
  readonly sizes: ChunkSizes;
  readonly chunksPerBatch: number;
  /** Sees to it that an item's vectors are in the home that is read now, when they went elsewhere while it was built. */
  readonly gatherVectors: (origin: Provenance, homes: ReadonlySet<number>, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface BuiltItem {
  readonly chunks: number;
  readonly entityIds: readonly string[];
  readonly relationships: number;
  /** Chunks that are found by their text alone, because their extraction failed. */
  readonly failedChunks: number;
}

/**
 * Builds one item under a new generation and commits it in the ledger; until then nothing of it is visible. Null when the
 * item was forgotten or reset meanwhile. Whatever else happens, its rows are removed again and the error goes on; a failure of
 * the item itself is noted in the ledger. A process that dies meanwhile leaves the try counted.
 */
export async function buildItem(dependencies: BuildDependencies, request: BuildRequest): Promise<BuiltItem | null> {
  const { ledger, builds } = dependencies;
  const { run, item } = request;
  let generation: number;
  try {
    const attempt = { version: contentVersion(item), tries: request.triesBefore + 1 };
    generation = await ledger.begin(run.scope, item.id, attempt);
  } catch (error) {
    if (error instanceof ItemErasedError) return null;
    throw error;
  }
  return builds.track({ scope: run.scope, item: item.id, generation }, request.signal, (signal) =>
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
    await request.gatherVectors({ item: request.item.id, generation }, built.homes, signal);
    await commit(dependencies, request, generation, built);
    return built;
  } catch (error) {
    // A conflict means that the generation may not become visible: erased, reset, or another attempt is under way.
    const isOver = error instanceof VersionConflictError || signal.reason instanceof BuildStoppedError;
    await rollBack(dependencies, request, generation, endOf(dependencies, request, isOver ? null : error));
    if (isOver) return null;
    throw error;
  }
}

/** A try counts when the item failed by itself, and when the lease was lost over it. */
function endOf(
  { clock }: Pick<BuildDependencies, 'clock'>,
  { signal, run, triesBefore }: BuildRequest,
  error: unknown,
): AttemptEnd {
  if (signal.reason instanceof LeaseLostError || error instanceof LeaseLostError) return {};
  if (signal.aborted || error === null || blameOf(error) !== 'item') return { tries: triesBefore };
  return { failure: { ...describeItemError(error), at: clock.now().toISOString(), runId: run.id } };
}

async function commit(
  dependencies: BuildDependencies,
  { run, item, options }: BuildRequest,
  generation: number,
  built: BuiltItem,
): Promise<void> {
  const { ledger, clock, logger } = dependencies;
  const counts = {
    ...{ chunks: built.chunks, entities: built.entityIds.length, relationships: built.relationships },
    ...(built.failedChunks === 0 ? {} : { failed_chunks: built.failedChunks }),
  };
  const by = { runId: run.id, counts, chunkSize: options.chunkSize ?? null };
  await run.commit(ledger.commitWrites(item.id, generation, contentVersion(item), clock.now().toISOString(), by));
  if (generation === 1) return;
  try {
    await removeRows(dependencies, run.scope, { item: item.id, beforeGeneration: generation });
  } catch (error) {
    // Superseded rows are invisible; the next build of the item or its erasure removes them.
    logger.warn('cognify.superseded.left', { runId: run.id, itemId: item.id, error });
  }
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
    // The commit went through although its answer was lost.
    if (entry?.generation === generation) return;
    await removeRows(dependencies, run.scope, { item: item.id, generation });
    await ledger.settle(run.scope, item.id, generation, end);
  } catch (error) {
    // The rows are invisible and the sweeper finds them by their pending entry.
    logger.warn('cognify.rollback.failed', { runId: run.id, itemId: item.id, error });
  }
}
