import { append } from '../../common/kernel/long-lists.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type EmbeddingBatches, embedAll } from '../../common/models/embed-all.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextEntry, TextIndex } from '../../common/storage/ports/text-index.ts';
import type { VectorEntry, VectorIndex } from '../../common/storage/ports/vector-index.ts';

/** A vector to be made: the entry and the text that is embedded. */
export interface Embedding {
  readonly entry: Omit<VectorEntry, 'vector'>;
  readonly text: string;
}

/** Rows of one generation of one item, for the three indexes. */
export interface IndexBatch {
  readonly entries: readonly TextEntry[];
  readonly embeddings: readonly Embedding[];
  readonly nodes: readonly NodeEvidence[];
  readonly edges: readonly EdgeEvidence[];
}

/** A batch that grows while chunks are extracted. */
export interface GrowingBatch extends IndexBatch {
  readonly entries: TextEntry[];
  readonly embeddings: Embedding[];
  readonly nodes: NodeEvidence[];
  readonly edges: EdgeEvidence[];
}

export function emptyBatch(): GrowingBatch {
  return { entries: [], embeddings: [], nodes: [], edges: [] };
}

function rowCount({ entries, embeddings, nodes, edges }: IndexBatch): number {
  return entries.length + embeddings.length + nodes.length + edges.length;
}

export type IndexWriter = ReturnType<typeof createIndexWriter>;

/** The index version that vectors are written to, and the model that makes them. */
interface WriterVersion {
  readonly number: number;
  readonly scope: DatasetScope;
  readonly embedder: Embedder;
}

interface IndexWriterOptions extends EmbeddingBatches {
  readonly scope: DatasetScope;
  readonly text: TextIndex;
  /** Reaches each index version by its scope. */
  readonly vectors: VectorIndex;
  readonly graph: GraphStore;
  /** Called for each flush: a migration may move the vectors meanwhile. */
  readonly activeVersion: () => Promise<WriterVersion>;
  /** See `VectorIndexVersions.written`. */
  readonly written: (version: number) => Promise<number>;
  readonly context: ModelCallContext;
  /** Called when the vectors are made, right before rows are written; no row is written when it throws. */
  readonly permit?: () => Promise<void>;
}

interface Pending {
  readonly batch: IndexBatch;
  readonly resolve: (version: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of one flush; a batch is never divided. */
const ROWS_PER_FLUSH = 4000;
/** Longest wait of a batch for the items that are still being built. */
const GATHER_MS = 50;

/**
 * Writes the batches of many items together, so fifty small items cost a few calls of embedder and stores instead of
 * hundreds. A batch waits, for a moment, until the other open items have theirs. A flush that fails is tried again batch by batch, so an item only ever fails
 * because of its own rows.
 */
export function createIndexWriter(options: IndexWriterOptions) {
  const queue: Pending[] = [];
  let isFlushing = false;
  let openItems = 0;
  let wake = () => {};

  const store = createStoring(options);
  const flush = async (pending: readonly Pending[]): Promise<void> => {
    try {
      const version = await store(pending.map(({ batch }) => batch));
      for (const { resolve } of pending) resolve(version);
    } catch (error) {
      if (pending.length === 1) pending[0]?.reject(error);
      else for (const one of pending) await flush([one]);
    }
  };
  const drain = async (): Promise<void> => {
    isFlushing = true;
    // Includes batches that are added in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      await gathered();
      await flush(takeFlush(queue));
    }
    isFlushing = false;
  };
  /** Resolves when every open item waits, when there are rows for a flush, or after `GATHER_MS`. */
  const gathered = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, GATHER_MS);
    wake = () => {
      if (queue.length >= openItems || rowsOf(queue) >= ROWS_PER_FLUSH) resolve();
    };
    wake();
    await promise;
    clearTimeout(timer);
  };
  return {
    /** An item begins to make rows; to be closed when it has written them. */
    open(): { close(): void } {
      openItems += 1;
      return {
        close() {
          openItems -= 1;
          wake();
        },
      };
    },
    /**
     * Writes the rows to all three indexes; resolves to the number of the index version that has the vectors. Waits while many rows are being
     * written.
     */
    write: (batch: IndexBatch): Promise<number> =>
      new Promise((resolve, reject) => {
        queue.push({ batch, resolve, reject });
        wake();
        if (!isFlushing) void drain();
      }),
  };
}

/** Stores the rows of batches in the three indexes; resolves to the number of the active index version. */
function createStoring(options: IndexWriterOptions) {
  const { scope, text, vectors, graph, context } = options;
  const storeIn = async (
    version: WriterVersion,
    batches: readonly IndexBatch[],
    embeddings: readonly Embedding[],
  ): Promise<void> => {
    const { embedder } = version;
    const texts = embeddings.map((embedding) => embedding.text);
    const made = await embedAll(embedder, texts, context, options);
    const entries = batches.flatMap((batch) => batch.entries);
    const nodes = batches.flatMap((batch) => batch.nodes);
    const edges = batches.flatMap((batch) => batch.edges);
    const vectorEntries: VectorEntry[] = embeddings.map(({ entry }, index) => ({
      ...entry,
      vector: made[index] ?? new Float32Array(embedder.space.dimensions),
    }));
    await options.permit?.();
    context.signal?.throwIfAborted();
    const writes = await Promise.allSettled([
      vectorEntries.length > 0 ? vectors.upsert(version.scope, embedder.space, vectorEntries) : null,
      nodes.length + edges.length > 0 ? graph.upsert(scope, { nodes, edges }) : null,
      entries.length > 0 ? text.upsert(scope, entries) : null,
    ]);
    // Thrown only now: a roll-back must not overtake a write that is still in flight.
    for (const write of writes) if (write.status === 'rejected') throw write.reason;
  };
  /** Writes into the active index version, and the vectors into the next one too when a migration moved them meanwhile. */
  return async (batches: readonly IndexBatch[]): Promise<number> => {
    const embeddings = batches.flatMap((batch) => batch.embeddings);
    let version = await options.activeVersion();
    let rest = batches;
    for (;;) {
      let active: number;
      try {
        await storeIn(version, rest, embeddings);
      } finally {
        active = await options.written(version.number);
      }
      if (active === version.number || embeddings.length === 0) return active;
      version = await options.activeVersion();
      rest = [];
    }
  };
}

function rowsOf(queue: readonly Pending[]): number {
  return queue.reduce((sum, { batch }) => sum + rowCount(batch), 0);
}

function takeFlush(queue: Pending[]): readonly Pending[] {
  let rows = 0;
  let count = 0;
  for (const { batch } of queue) {
    rows += rowCount(batch);
    if (count > 0 && rows > ROWS_PER_FLUSH) break;
    count += 1;
  }
  return queue.splice(0, count);
}

/** Buffer of one item's rows in front of the writer: rows gather until there are enough, and are written while more are made. */
export type RowGatherer = ReturnType<typeof createRowGatherer>;

const ROWS_PER_WRITE = 2000;

export function createRowGatherer(writer: IndexWriter) {
  const item = writer.open();
  let rows = emptyBatch();
  let writing: Promise<void> = Promise.resolve();
  const versions = new Set<number>();
  const writeRows = async (): Promise<void> => {
    await writing;
    writing = writer.write(rows).then((version) => void versions.add(version));
    // Awaited by the next write or at the end; a failure in between must not count as unhandled.
    writing.catch(() => {});
    rows = emptyBatch();
  };
  return {
    /** Rows that were not given to the writer yet. */
    get rows() {
      return rows;
    },
    append({ entries, embeddings, nodes, edges }: IndexBatch) {
      append(rows.entries, entries);
      append(rows.embeddings, embeddings);
      append(rows.nodes, nodes);
      append(rows.edges, edges);
    },
    /** Gives the rows to the writer when there are enough, or when `isDue`; waits for the write before. */
    async spill(isDue = false) {
      if (isDue || rowCount(rows) >= ROWS_PER_WRITE) await writeRows();
    },
    /** Writes the rest and waits for every write; resolves to the index versions that vectors went to. */
    async finish(): Promise<ReadonlySet<number>> {
      if (rowCount(rows) > 0) await writeRows();
      await writing;
      return versions;
    },
    /** Resolves when no write is in flight, failed or not; nothing may be added after it. */
    async settled() {
      await Promise.allSettled([writing]);
      item.close();
    },
  };
}
