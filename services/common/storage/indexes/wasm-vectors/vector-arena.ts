import { BLOCK_BYTES, type BlockPool } from './block-pool.ts';
import { createFloatRows, createScaledRows, type PreparedQuery, type RowFormat, rowsInBlock } from './row-formats.ts';
import { createSketches, sketchesPerBlock } from './sketches.ts';

export interface ArenaRow {
  /** Grows from row to row; never used twice. */
  readonly row: number;
  readonly id: string;
  readonly origin: number;
  /** Unit length, or zero: then the row is kept out. */
  readonly vector: Float32Array;
}

/**
 * The vectors of one kind of a dataset in blocks of the pool, as f32 or, from `quantiseAbove` rows on, as i8 with one
 * scale per row (a quarter of the memory, twice the speed; scores are then good to about 0.002 and must be refined).
 */
export type VectorArena = ReturnType<typeof createVectorArena>;

/** A row must fit a block. */
export const MAX_DIMENSIONS = BLOCK_BYTES / 4;

export function createVectorArena(pool: BlockPool, dimensions: number, options: { quantise: boolean }) {
  const isQuantised = options.quantise;
  const blocks: number[] = [];
  const scaled = isQuantised ? createScaledRows(pool, dimensions, blocks) : null;
  const format: RowFormat = scaled ?? createFloatRows(pool, dimensions);
  const sketches = isQuantised && pool.kernel.sketch ? createSketches(pool, pool.kernel.sketch, dimensions) : null;
  const { rowsPerBlock } = format;
  const slots = createSlotTable();

  const scanBlock = (number: number, query: PreparedQuery, out: number): void => {
    const first = number * rowsPerBlock;
    const count = Math.min(rowsPerBlock, slots.count() - first);
    format.scan(query, { block: blocks[number] as number, first, count, out });
  };

  return {
    isQuantised,
    /** Slots in use, gaps of removed rows included. */
    get slotCount() {
      return slots.count();
    },
    get liveCount() {
      return slots.liveCount();
    },
    get lastRow() {
      return slots.lastRow();
    },
    /** False when the pool had no block left; the arena is then incomplete and must be discarded. */
    append({ row, id, origin, vector }: ArenaRow) {
      const slot = slots.count();
      if (slot === blocks.length * rowsPerBlock) {
        const block = pool.take();
        if (block === null) return false;
        blocks.push(block);
      }
      if (sketches?.append(vector) === false) return false;
      format.append(blocks[blocks.length - 1] as number, slot % rowsPerBlock, vector);
      slots.add(row, id, origin);
      return true;
    },
    remove: slots.remove,
    /** Cosine of every slot with every query, in one pass over the blocks. Null when the pool has no room for the queries. */
    scan(queries: readonly Float32Array[]): readonly Float32Array[] | null {
      const taken: number[] = [];
      try {
        for (let index = 0; index <= queries.length; index++) {
          const address = pool.take();
          if (address === null) return null;
          taken.push(address);
        }
        const out = taken[queries.length] as number;
        const prepared = queries.map((query, index): PreparedQuery => {
          const address = taken[index] as number;
          return { address, scale: format.prepare(query, address), scores: new Float32Array(slots.count()) };
        });
        for (let block = 0; block < blocks.length; block++) {
          for (const query of prepared) scanBlock(block, query, out);
        }
        return prepared.map(({ scores }) => scores);
      } finally {
        pool.giveBack(taken);
      }
    },
    /**
     * The slots that are nearest by their sketches, at least `limit`, with their cosines; null when all are to be scanned: there
     * are few, or no sketches, or no room for the query.
     */
    scanNearest(query: Float32Array, limit: number): NearSlots | null {
      const wanted = Math.max(MIN_SKETCHED, SKETCHED_PER_HIT * limit, Math.ceil(SKETCHED_SHARE * slots.count()));
      if (sketches === null || scaled === null || slots.count() < 2 * wanted) return null;
      const taken = [pool.take(), pool.take(), pool.take()].filter((block) => block !== null);
      const [address, more, out] = taken;
      try {
        if (address === undefined || more === undefined || out === undefined) return null;
        const near = sketches.nearest(query, wanted, { query: more, out });
        const scores = new Float32Array(near.length);
        scaled.scanAt({ address, scale: scaled.prepare(query, address), scores }, near, { addresses: more, out });
        return { slots: near, scores };
      } finally {
        pool.giveBack(taken);
      }
    },
    isLive: slots.isLive,
    id: slots.id,
    origin: slots.origin,
    row: slots.row,
    release() {
      pool.giveBack(blocks.splice(0));
      sketches?.release();
      slots.clear();
      format.clear();
    },
  };
}

/** Some of the slots, and the cosine of each. */
export interface NearSlots {
  readonly slots: Int32Array;
  readonly scores: Float32Array;
}

/**
 * Rows that are compared after their sketches: with an eighth of them, 0.99 to 1 of the nearest ten of 40,000 rows are found
 * (hashing embedder; means of word vectors), see `test/bench/README.md`.
 */
const SKETCHED_SHARE = 1 / 8;
const SKETCHED_PER_HIT = 64;
const MIN_SKETCHED = 4096;

/** Blocks that `count` rows take. */
export function blocksNeeded(dimensions: number, count: number, quantised: boolean): number {
  const rows = Math.ceil(count / rowsInBlock(dimensions, quantised));
  return quantised ? rows + Math.ceil(count / sketchesPerBlock(dimensions)) : rows;
}

const REMOVED = -1;

/** Slots of the vectors in the order of their rows, without the vectors. */
function createSlotTable() {
  const rows: number[] = [];
  const ids: string[] = [];
  const origins: number[] = [];
  let removed = 0;
  return {
    /** Gaps of removed rows included. */
    count: () => rows.length,
    liveCount: () => rows.length - removed,
    /** -1: none. */
    lastRow: () => rows.at(-1) ?? -1,
    /** In the next slot. `row` grows from slot to slot. */
    add(row: number, id: string, origin: number) {
      rows.push(row);
      ids.push(id);
      origins.push(origin);
    },
    /** Leaves a gap. An unknown row is no error. */
    remove(row: number) {
      const slot = findSorted(rows, row);
      if (slot === -1 || origins[slot] === REMOVED) return;
      origins[slot] = REMOVED;
      ids[slot] = '';
      removed++;
    },
    isLive: (slot: number) => origins[slot] !== REMOVED,
    id: (slot: number) => ids[slot] as string,
    origin: (slot: number) => origins[slot] as number,
    row: (slot: number) => rows[slot] as number,
    clear() {
      rows.length = 0;
      ids.length = 0;
      origins.length = 0;
      removed = 0;
    },
  };
}

function findSorted(values: readonly number[], wanted: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = values[middle] as number;
    if (value === wanted) return middle;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
