import { append } from '../../common/kernel/long-lists.ts';
import { emptyBatch, type GrowingBatch, type IndexBatch, rowCount } from './index-batch.ts';
import type { IndexWriter } from './index-writer.ts';

/** Rows of one item on their way to the writer: gathered until there are enough, written while more are made. */
export interface RowGatherer {
  /** Rows not handed to the writer yet. */
  readonly rows: GrowingBatch;
  append(batch: IndexBatch): void;
  /** Hands the rows over when there are enough, or when told to; waits for the write before. */
  spill(isDue?: boolean): Promise<void>;
  /** Writes what is left and waits for everything; resolves to the homes that vectors went to. */
  finish(): Promise<ReadonlySet<number>>;
  /** Resolves when no write is under way any more, failed or not. */
  settled(): Promise<void>;
}

const ROWS_PER_WRITE = 2000;

export function createRowGatherer(writer: IndexWriter): RowGatherer {
  let rows = emptyBatch();
  let writing: Promise<void> = Promise.resolve();
  const homes = new Set<number>();
  const handOver = async (): Promise<void> => {
    await writing;
    writing = writer.write(rows).then((home) => void homes.add(home));
    // Awaited by the next hand-over or at the end; a failure in between must not count as unhandled.
    writing.catch(() => {});
    rows = emptyBatch();
  };
  return {
    get rows() {
      return rows;
    },
    append({ entries, embeddings, nodes, edges }) {
      append(rows.entries, entries);
      append(rows.embeddings, embeddings);
      append(rows.nodes, nodes);
      append(rows.edges, edges);
    },
    async spill(isDue = false) {
      if (isDue || rowCount(rows) >= ROWS_PER_WRITE) await handOver();
    },
    async finish() {
      if (rowCount(rows) > 0) await handOver();
      await writing;
      return homes;
    },
    async settled() {
      await Promise.allSettled([writing]);
    },
  };
}
