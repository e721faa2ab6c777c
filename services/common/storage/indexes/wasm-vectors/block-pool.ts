import { type Kernel, MAX_KERNEL_BYTES } from './kernel.ts';

/** Blocks are what a scan reads at a time: they fit the second-level cache, so that several queries share one read. */
export const BLOCK_BYTES = 65_536;

/** Equal blocks of a kernel's memory: no fragments, so what a dataset gives back the next one can use. */
export type BlockPool = ReturnType<typeof createBlockPool>;

export function createBlockPool(kernel: Kernel, limitBytes: number) {
  const limit = Math.floor(Math.min(limitBytes, MAX_KERNEL_BYTES) / BLOCK_BYTES);
  const free: number[] = [];
  let made = 0;
  let views = makeViews(kernel.buffer());
  const current = () => {
    const buffer = kernel.buffer();
    if (views.buffer !== buffer || views.length !== buffer.byteLength) views = makeViews(buffer);
    return views;
  };
  return {
    kernel,
    /** Number of blocks that may still be taken. */
    available: () => free.length + limit - made,
    /** Byte address of a block, or null when the limit is reached. */
    take() {
      const address = free.pop();
      if (address !== undefined) return address;
      if (made >= limit) return null;
      // Grown in steps of an eighth: a step costs a system call, and unused pages cost no memory.
      const wanted = (made + 1) * BLOCK_BYTES;
      if (wanted > kernel.buffer().byteLength) {
        kernel.reserve(Math.min(limit, Math.ceil((made + 1) * 1.125)) * BLOCK_BYTES);
      }
      return made++ * BLOCK_BYTES;
    },
    giveBack: (addresses: readonly number[]): void => void free.push(...addresses),
    bytes: (address: number): Int8Array => current().bytes.subarray(address, address + BLOCK_BYTES),
    floats: (address: number): Float32Array => current().floats.subarray(address / 4, (address + BLOCK_BYTES) / 4),
    integers: (address: number): Int32Array => current().integers.subarray(address / 4, (address + BLOCK_BYTES) / 4),
  };
}

function makeViews(buffer: ArrayBuffer) {
  return {
    buffer,
    length: buffer.byteLength,
    bytes: new Int8Array(buffer),
    floats: new Float32Array(buffer),
    integers: new Int32Array(buffer),
  };
}
