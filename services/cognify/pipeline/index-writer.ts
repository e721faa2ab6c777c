import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { GraphStore } from '../../common/storage/ports/graph-store.ts';
import type { TextIndex } from '../../common/storage/ports/text-index.ts';
import type { VectorEntry, VectorIndex } from '../../common/storage/ports/vector-index.ts';
import { type Embedding, type IndexBatch, rowCount } from './index-batch.ts';

export interface IndexWriter {
  /**
   * Resolves when the rows are in all three indexes; to the home that the vectors are in. Waits while many rows are under
   * way.
   */
  write(batch: IndexBatch): Promise<number>;
}

/** Where vectors belong at the moment, and the model that makes them. */
export interface WriterHome {
  readonly number: number;
  readonly scope: DatasetScope;
  readonly embedder: Embedder;
}

export interface IndexWriterOptions {
  readonly scope: DatasetScope;
  readonly text: TextIndex;
  /** Homes by their scopes. */
  readonly vectors: Pick<VectorIndex, 'upsert'>;
  readonly graph: GraphStore;
  /** Asked anew for each flush: a migration may move the vectors meanwhile. */
  readonly home: () => Promise<WriterHome>;
  /** See `VectorHomes.written`. */
  readonly written: (home: number) => Promise<number>;
  readonly context: ModelCallContext;
  readonly embeddingBatchSize: number;
  readonly embeddingConcurrency: number;
  /** Asked when the vectors are made, right before rows are written: they are not if it throws. */
  readonly permit?: () => Promise<void>;
}

interface Pending {
  readonly batch: IndexBatch;
  readonly resolve: (home: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of one flush; a batch is never divided. */
const ROWS_PER_FLUSH = 4000;

/**
 * Writes the batches of many items together: while one flush is under way the next ones gather, so fifty small items cost
 * a few calls of embedder and stores instead of hundreds. A flush that fails is tried again batch by batch, so that an
 * item only ever fails for its own rows.
 */
export function createIndexWriter(options: IndexWriterOptions): IndexWriter {
  const { scope, text, vectors, graph } = options;
  const queue: Pending[] = [];
  let isFlushing = false;

  /** Into the home as it is now, and into the next one if it moved meanwhile. */
  const store = async (batches: readonly IndexBatch[]): Promise<number> => {
    const embeddings = batches.flatMap((batch) => batch.embeddings);
    let home = await options.home();
    let rest = batches;
    for (;;) {
      let active: number;
      try {
        await storeIn(home, rest, embeddings);
      } finally {
        active = await options.written(home.number);
      }
      if (active === home.number || embeddings.length === 0) return active;
      home = await options.home();
      rest = [];
    }
  };
  const storeIn = async (
    home: WriterHome,
    batches: readonly IndexBatch[],
    embeddings: readonly Embedding[],
  ): Promise<void> => {
    const { embedder } = home;
    const texts = embeddings.map((embedding) => embedding.text);
    const made = await embedAll(embedder, texts, options);
    const entries = batches.flatMap((batch) => batch.entries);
    const nodes = batches.flatMap((batch) => batch.nodes);
    const edges = batches.flatMap((batch) => batch.edges);
    const vectorEntries: VectorEntry[] = embeddings.map(({ entry }, index) => ({
      ...entry,
      vector: made[index] ?? new Float32Array(embedder.space.dimensions),
    }));
    await options.permit?.();
    options.context.signal?.throwIfAborted();
    const writes = await Promise.allSettled([
      vectorEntries.length > 0 ? vectors.upsert(home.scope, embedder.space, vectorEntries) : null,
      nodes.length + edges.length > 0 ? graph.upsert(scope, { nodes, edges }) : null,
      entries.length > 0 ? text.upsert(scope, entries) : null,
    ]);
    // Only now: a roll-back must not overtake a write that is still under way.
    for (const write of writes) if (write.status === 'rejected') throw write.reason;
  };
  const flush = async (pending: readonly Pending[]): Promise<void> => {
    try {
      const home = await store(pending.map(({ batch }) => batch));
      for (const { resolve } of pending) resolve(home);
    } catch (error) {
      if (pending.length === 1) pending[0]?.reject(error);
      else for (const one of pending) await flush([one]);
    }
  };
  const drain = async (): Promise<void> => {
    isFlushing = true;
    // Batches that are asked for in this turn of the event loop go along.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) await flush(takeFlush(queue));
    isFlushing = false;
  };
  return {
    write: (batch) =>
      new Promise((resolve, reject) => {
        queue.push({ batch, resolve, reject });
        if (!isFlushing) void drain();
      }),
  };
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

/** In calls of a size, some at the same time; one vector a text, in order. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  {
    context,
    embeddingBatchSize,
    embeddingConcurrency,
  }: Pick<IndexWriterOptions, 'context' | 'embeddingBatchSize' | 'embeddingConcurrency'>,
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = new Array(texts.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < texts.length) {
      const start = next;
      next += embeddingBatchSize;
      const made = await embedder.embed(texts.slice(start, start + embeddingBatchSize), context);
      for (const [index, vector] of made.entries()) vectors[start + index] = vector;
    }
  };
  await Promise.all(Array.from({ length: embeddingConcurrency }, worker));
  return vectors;
}
