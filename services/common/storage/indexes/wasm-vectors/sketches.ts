import { BLOCK_BYTES, type BlockPool } from './block-pool.ts';
import type { SketchKernel } from './kernel.ts';

/** Sizes of the groups of dimensions that are mixed: the bits of one step of the kernel. */
const GROUP = 128;

/**
 * Sketches of unit vectors: one bit for each dimension, the sign of a sum of other dimensions with random signs (a Hadamard
 * transform of each group of 128), since vectors with many zeros have no signs of their own. The number of bits in which
 * two sketches differ grows with the angle between their vectors.
 */
export function createSketches(pool: BlockPool, kernel: SketchKernel, dimensions: number) {
  const bits = sketchBits(dimensions);
  const bytes = bits / 8;
  const perBlock = Math.floor(BLOCK_BYTES / bytes);
  const mix = createMixer(dimensions, bits);
  const blocks: number[] = [];
  let count = 0;
  let distances = new Uint16Array(0);
  const write = (vector: Float32Array, block: number, place: number) => {
    const mixed = mix(vector);
    const target = pool.bytes(block).subarray(place * bytes, (place + 1) * bytes);
    // Branches would be mispredicted every second time: the sign bits are shifted out of the floats.
    for (let at = 0; at < bytes; at++) {
      let byte = 0;
      for (let bit = 8 * at; bit < 8 * at + 8; bit++) byte = (byte << 1) | ((mixed[bit] as number) >>> 31);
      target[at] = byte;
    }
  };
  return {
    /** False when the pool had no block left. */
    append(vector: Float32Array): boolean {
      if (count === blocks.length * perBlock) {
        const block = pool.take();
        if (block === null) return false;
        blocks.push(block);
      }
      write(vector, blocks[blocks.length - 1] as number, count % perBlock);
      count += 1;
      return true;
    },
    /** Numbers of the rows with the nearest sketches, in order of the rows: `wanted`, and those as near as the last of them. */
    nearest(query: Float32Array, wanted: number, memory: { readonly query: number; readonly out: number }): Int32Array {
      write(query, memory.query, 0);
      if (distances.length < count) distances = new Uint16Array(Math.ceil(1.125 * count));
      const rowsAt = new Uint32Array(bits + 1);
      for (const [number, block] of blocks.entries()) {
        const first = number * perBlock;
        const rows = Math.min(perBlock, count - first);
        kernel.distances(memory.query, block, rows, bytes, memory.out);
        const found = pool.integers(memory.out);
        for (let row = 0; row < rows; row++) {
          const distance = found[row] as number;
          distances[first + row] = distance;
          rowsAt[distance] = (rowsAt[distance] as number) + 1;
        }
      }
      let greatest = 0;
      let sum = rowsAt[0] as number;
      while (sum < wanted && greatest < bits) sum += rowsAt[++greatest] as number;
      const nearest = new Int32Array(sum);
      let next = 0;
      for (let row = 0; row < count; row++) if ((distances[row] as number) <= greatest) nearest[next++] = row;
      return nearest;
    },
    release() {
      pool.giveBack(blocks.splice(0));
      count = 0;
    },
  };
}

export function sketchesPerBlock(dimensions: number): number {
  return Math.floor(BLOCK_BYTES / (sketchBits(dimensions) / 8));
}

function sketchBits(dimensions: number): number {
  return Math.ceil(dimensions / GROUP) * GROUP;
}

/** Returns the mixed dimensions of a vector as the bits of f32, in an array that the next call reuses. */
function createMixer(dimensions: number, length: number): (vector: Float32Array) => Uint32Array {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const order = Array.from({ length }, (_, at) => ({ at, key: random() })).sort((a, b) => a.key - b.key);
  const places = Int32Array.from(order, ({ at }) => at);
  const signs = Float32Array.from(order, () => (random() < 0.5 ? -1 : 1));
  const mixed = new Float32Array(length);
  const asBits = new Uint32Array(mixed.buffer);
  return (vector) => {
    for (let at = 0; at < length; at++) {
      const place = places[at] as number;
      mixed[at] = place < dimensions ? (vector[place] as number) * (signs[at] as number) : 0;
    }
    for (let half = 1; half < GROUP; half *= 2) {
      for (let start = 0; start < length; start += 2 * half) {
        for (let at = start; at < start + half; at++) {
          const one = mixed[at] as number;
          const other = mixed[at + half] as number;
          mixed[at] = one + other;
          mixed[at + half] = one - other;
        }
      }
    }
    return asBits;
  };
}
