/** Bytes of `kernel.wat`, assembled with wabt 1.0 (`wat2wasm --enable-simd kernel.wat`). */
const KERNEL_BASE64 =
  'AGFzbQEAAAABCQFgBX9/f39/AAIVAQZrZXJuZWwGbWVtb3J5AgEBgIAEAwUEAAAAAAcmBARkb3RzAAAFZG90czgAAQdkb3RzOEF0AAIJZGlzdGFuY2VzAAMK8AYEpQICA38EeyAEIAJBAnRqIQUgACADQQJ0aiEGAkADQCAEIAVPDQEgACEH/QwAAAAAAAAAAAAAAAAAAAAAIQj9DAAAAAAAAAAAAAAAAAAAAAAhCf0MAAAAAAAAAAAAAAAAAAAAACEK/QwAAAAAAAAAAAAAAAAAAAAAIQsDQCAIIAf9AAQAIAH9AAQA/eYB/eQBIQggCSAH/QAEECAB/QAEEP3mAf3kASEJIAogB/0ABCAgAf0ABCD95gH95AEhCiALIAf9AAQwIAH9AAQw/eYB/eQBIQsgAUHAAGohASAHQcAAaiEHIAcgBkkNAAsgCCAJ/eQBIAogC/3kAf3kASEIIAQgCP0fACAI/R8BkiAI/R8CIAj9HwOSkjgCACAEQQRqIQQMAAsLC84BAgN/BHsgBCACQQJ0aiEFIAAgA2ohBgJAA0AgBCAFTw0BIAAhB/0MAAAAAAAAAAAAAAAAAAAAACEI/QwAAAAAAAAAAAAAAAAAAAAAIQkDQCAH/QAEACEKIAH9AAQAIQsgCCAK/YcBIAv9hwH9ugH9rgEhCCAJIAr9iAEgC/2IAf26Af2uASEJIAFBEGohASAHQRBqIQcgByAGSQ0ACyAIIAn9rgEhCCAEIAj9GwAgCP0bAWogCP0bAiAI/RsDamo2AgAgBEEEaiEEDAALCwvcAQIEfwR7IAQgAkECdGohBSAAIANqIQYCQANAIAQgBU8NASAAIQcgASgCACEIIAFBBGohAf0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQoDQCAH/QAEACELIAj9AAQAIQwgCSAL/YcBIAz9hwH9ugH9rgEhCSAKIAv9iAEgDP2IAf26Af2uASEKIAhBEGohCCAHQRBqIQcgByAGSQ0ACyAJIAr9rgEhCSAEIAn9GwAgCf0bAWogCf0bAiAJ/RsDamo2AgAgBEEEaiEEDAALCwuYAQIDfwF7IAQgAkECdGohBSAAIANqIQYCQANAIAQgBU8NASAAIQf9DAAAAAAAAAAAAAAAAAAAAAAhCANAIAggB/0ABAAgAf0ABAD9Uf1i/X39jgEhCCABQRBqIQEgB0EQaiEHIAcgBkkNAAsgCP1/IQggBCAI/RsAIAj9GwFqIAj9GwIgCP0bA2pqNgIAIARBBGohBAwACwsL';

/** The part of the global that is used here; the type libraries of this project (no DOM) do not declare it. */
declare const WebAssembly: {
  readonly Memory: new (limits: {
    initial: number;
    maximum: number;
  }) => {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
  validate(bytes: Uint8Array): boolean;
};

const PAGE_BYTES = 65_536;
/** 32-bit WebAssembly addresses 4 GiB; the last page stays free so that every end address fits. */
export const MAX_KERNEL_BYTES = 65_535 * PAGE_BYTES;

/** Writes the dot products of one query with `count` rows that lie without gaps; addresses are bytes. */
type DotProducts = (query: number, rows: number, count: number, dimensions: number, out: number) => void;

/** Dot products over one growing memory. `dimensions` is a multiple of 16. */
export interface Kernel {
  readonly isSimd: boolean;
  /** The present memory; growing replaces it, so views must be created again. */
  buffer(): ArrayBuffer;
  /** Makes the memory at least `sizeBytes` long. */
  reserve(sizeBytes: number): void;
  /** f32 rows to f32 results. */
  readonly dots: DotProducts;
  /** i8 rows to i32 results. */
  readonly dots8: DotProducts;
  /** Null without SIMD. */
  readonly sketch: SketchKernel | null;
}

export interface SketchKernel {
  /** The bits in which a query differs from each row, with the bytes of a row (a multiple of 16) as dimensions. */
  readonly distances: DotProducts;
  /** `dots8` with rows that lie anywhere: `rows` is the address of their addresses (i32). */
  readonly dots8At: DotProducts;
}

/** WebAssembly SIMD where the machine has it (7 times faster), a plain loop elsewhere. */
export function createKernel(options: { readonly plain?: boolean } = {}): Kernel {
  const bytes = Buffer.from(KERNEL_BASE64, 'base64');
  return options.plain === true || !WebAssembly.validate(bytes) ? plainKernel() : wasmKernel(bytes);
}

function wasmKernel(bytes: Uint8Array): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_536 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { kernel: { memory } });
  return {
    isSimd: true,
    buffer: () => memory.buffer,
    reserve(sizeBytes) {
      const missing = Math.ceil((sizeBytes - memory.buffer.byteLength) / PAGE_BYTES);
      if (missing > 0) memory.grow(missing);
    },
    dots: instance.exports['dots'] as DotProducts,
    dots8: instance.exports['dots8'] as DotProducts,
    sketch: {
      distances: instance.exports['distances'] as DotProducts,
      dots8At: instance.exports['dots8At'] as DotProducts,
    },
  };
}

function plainKernel(): Kernel {
  const memory = new ArrayBuffer(PAGE_BYTES, { maxByteLength: MAX_KERNEL_BYTES });
  const products = (
    vectors: Float32Array | Int8Array,
    query: number,
    rows: number,
    dimensions: number,
    results: Float32Array | Int32Array,
  ) => {
    for (let row = 0; row < results.length; row++) {
      let sum = 0;
      const start = rows + row * dimensions;
      for (let index = 0; index < dimensions; index++) {
        sum += (vectors[query + index] as number) * (vectors[start + index] as number);
      }
      results[row] = sum;
    }
  };
  return {
    isSimd: false,
    sketch: null,
    buffer: () => memory,
    reserve(sizeBytes) {
      if (sizeBytes > memory.byteLength) memory.resize(sizeBytes);
    },
    dots(query, rows, count, dimensions, out) {
      products(new Float32Array(memory), query / 4, rows / 4, dimensions, new Float32Array(memory, out, count));
    },
    dots8(query, rows, count, dimensions, out) {
      products(new Int8Array(memory), query, rows, dimensions, new Int32Array(memory, out, count));
    },
  };
}
