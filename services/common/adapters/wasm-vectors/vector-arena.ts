import { BLOCK_BYTES, type BlockPool } from './block-pool.ts';

export interface ArenaRow {
  /** Grows from row to row; never used twice. */
  readonly row: number;
  readonly id: string;
  readonly origin: number;
  /** Unit length, or zero: then the row is kept out. */
  readonly vector: Float32Array;
}

/** A query as the kernel needs it. */
interface PreparedQuery {
  readonly address: number;
  readonly scale: number;
  readonly scores: Float32Array;
}

/**
 * The vectors of one kind of a dataset in blocks of the pool, as f32 or, from `quantiseAbove` rows on, as i8 with one
 * scale per row (a quarter of the memory, twice the speed; scores are then good to about 0.002 and must be refined).
 */
export interface VectorArena {
  readonly isQuantised: boolean;
  /** Slots in use, gaps of removed rows included. */
  readonly slotCount: number;
  readonly liveCount: number;
  readonly lastRow: number;
  /** False when the pool had no block left; the arena is then incomplete and must be discarded. */
  append(row: ArenaRow): boolean;
  remove(row: number): void;
  /** Cosine of every slot with every query, in one pass over the blocks. Null when the pool has no room for the queries. */
  scan(queries: readonly Float32Array[]): readonly Float32Array[] | null;
  isLive(slot: number): boolean;
  id(slot: number): string;
  origin(slot: number): number;
  row(slot: number): number;
  release(): void;
}

/** A row must fit a block. */
export const MAX_DIMENSIONS = BLOCK_BYTES / 4;

const REMOVED = -1;

export function createVectorArena(pool: BlockPool, dimensions: number, options: { quantise: boolean }): VectorArena {
  const width = paddedDimensions(dimensions);
  const isQuantised = options.quantise;
  const rowsPerBlock = rowsInBlock(dimensions, isQuantised);
  const blocks: number[] = [];
  const rows: number[] = [];
  const ids: string[] = [];
  const origins: number[] = [];
  const scales: number[] = [];
  let removed = 0;

  const prepare = (query: Float32Array, address: number): PreparedQuery => {
    const scores = new Float32Array(rows.length);
    if (isQuantised) return { address, scores, scale: quantise(query, pool.bytes(address).subarray(0, width)) };
    const target = pool.floats(address);
    target.fill(0, 0, width);
    target.set(query);
    return { address, scores, scale: 1 };
  };
  const scanBlock = (block: number, query: PreparedQuery, out: number) => {
    const first = block * rowsPerBlock;
    const count = Math.min(rowsPerBlock, rows.length - first);
    const start = blocks[block] as number;
    if (!isQuantised) {
      pool.kernel.dots(query.address, start, count, width, out);
      query.scores.set(pool.floats(out).subarray(0, count), first);
      return;
    }
    pool.kernel.dots8(query.address, start, count, width, out);
    const products = pool.integers(out);
    for (let index = 0; index < count; index++) {
      query.scores[first + index] = (products[index] as number) * (scales[first + index] as number) * query.scale;
    }
  };

  return {
    isQuantised,
    get slotCount() {
      return rows.length;
    },
    get liveCount() {
      return rows.length - removed;
    },
    get lastRow() {
      return rows.at(-1) ?? -1;
    },
    append({ row, id, origin, vector }) {
      const slot = rows.length;
      if (slot === blocks.length * rowsPerBlock) {
        const block = pool.take();
        if (block === null) return false;
        blocks.push(block);
      }
      const block = blocks[blocks.length - 1] as number;
      const start = (slot % rowsPerBlock) * width;
      if (isQuantised) scales.push(quantise(vector, pool.bytes(block).subarray(start, start + width)));
      else {
        const target = pool.floats(block);
        target.set(vector, start);
        target.fill(0, start + dimensions, start + width);
      }
      rows.push(row);
      ids.push(id);
      origins.push(origin);
      return true;
    },
    remove(row) {
      const slot = findSorted(rows, row);
      if (slot === -1 || origins[slot] === REMOVED) return;
      origins[slot] = REMOVED;
      ids[slot] = '';
      removed++;
    },
    scan(queries) {
      const taken: number[] = [];
      try {
        for (let index = 0; index <= queries.length; index++) {
          const address = pool.take();
          if (address === null) return null;
          taken.push(address);
        }
        const out = taken[queries.length] as number;
        const prepared = queries.map((query, index) => prepare(query, taken[index] as number));
        for (let block = 0; block < blocks.length; block++) {
          for (const query of prepared) scanBlock(block, query, out);
        }
        return prepared.map(({ scores }) => scores);
      } finally {
        pool.giveBack(taken);
      }
    },
    isLive: (slot) => origins[slot] !== REMOVED,
    id: (slot) => ids[slot] as string,
    origin: (slot) => origins[slot] as number,
    row: (slot) => rows[slot] as number,
    release() {
      pool.giveBack(blocks.splice(0));
      rows.length = 0;
      ids.length = 0;
      origins.length = 0;
      scales.length = 0;
      removed = 0;
    },
  };
}

/** Blocks that `count` rows take. */
export function blocksNeeded(dimensions: number, count: number, quantised: boolean): number {
  return Math.ceil(count / rowsInBlock(dimensions, quantised));
}

function rowsInBlock(dimensions: number, quantised: boolean): number {
  return Math.floor(BLOCK_BYTES / (paddedDimensions(dimensions) * (quantised ? 1 : 4)));
}

/** The kernel reads 16 numbers a step. */
export function paddedDimensions(dimensions: number): number {
  return Math.max(16, Math.ceil(dimensions / 16) * 16);
}

/** Writes the vector as i8, padded with zeros, and returns the scale that gives the numbers back. */
function quantise(vector: Float32Array, target: Int8Array): number {
  let greatest = 0;
  for (let index = 0; index < vector.length; index++) greatest = Math.max(greatest, Math.abs(vector[index] as number));
  const factor = greatest > 0 ? 127 / greatest : 0;
  for (let index = 0; index < vector.length; index++) target[index] = Math.round((vector[index] as number) * factor);
  target.fill(0, vector.length);
  return greatest / 127;
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
