/** RFC 7693 §2.6: the same initial values as SHA-256. */
const INITIAL = new Uint32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);

/** RFC 7693 §2.7: which words of the block the steps of each round mix in. */
const SCHEDULE = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
] as const;

/** RFC 7693 §3.2: columns, then diagonals of the 4 × 4 working vector. */
const MIXES = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

const BLOCK_BYTES = 64;

/**
 * BLAKE2s of RFC 7693, unkeyed, as lower-case hex. The wire's connection ids need 8 bytes of it: the length goes into the
 * digest, so the first bytes of a longer one (Node has 32 only) are others.
 *
 * `digestBytes`: 1 to 32. For short inputs: the whole of it is held, up to 4 GiB.
 */
export function blake2s(input: Uint8Array, digestBytes: number): string {
  const state = INITIAL.slice();
  xorAt(state, 0, 0x01010000 ^ digestBytes);
  const blocks = Math.max(1, Math.ceil(input.length / BLOCK_BYTES));
  const block = new DataView(new ArrayBuffer(BLOCK_BYTES));
  for (let index = 0; index < blocks; index += 1) {
    const start = index * BLOCK_BYTES;
    const bytes = new Uint8Array(block.buffer);
    bytes.fill(0);
    bytes.set(input.subarray(start, start + BLOCK_BYTES));
    const isLast = index === blocks - 1;
    compress(state, block, { bytesSoFar: isLast ? input.length : start + BLOCK_BYTES, isLast });
  }
  const digest = Buffer.alloc(32);
  state.forEach((word, index) => {
    digest.writeUInt32LE(word, index * 4);
  });
  return digest.toString('hex', 0, digestBytes);
}

function compress(
  state: Uint32Array,
  block: DataView,
  { bytesSoFar, isLast }: { readonly bytesSoFar: number; readonly isLast: boolean },
): void {
  const vector = new Uint32Array(16);
  vector.set(state);
  vector.set(INITIAL, 8);
  xorAt(vector, 12, bytesSoFar);
  if (isLast) xorAt(vector, 14, 0xffffffff);
  for (const order of SCHEDULE) {
    MIXES.forEach((places, step) => {
      const words = [order[2 * step] ?? 0, order[2 * step + 1] ?? 0] as const;
      mix(vector, places, [block.getUint32(words[0] * 4, true), block.getUint32(words[1] * 4, true)]);
    });
  }
  for (let index = 0; index < 8; index += 1) xorAt(state, index, at(vector, index) ^ at(vector, index + 8));
}

/** RFC 7693 §3.1, the function G. */
function mix(vector: Uint32Array, [a, b, c, d]: (typeof MIXES)[number], [x, y]: readonly [number, number]): void {
  vector[a] = at(vector, a) + at(vector, b) + x;
  vector[d] = rotated(at(vector, d) ^ at(vector, a), 16);
  vector[c] = at(vector, c) + at(vector, d);
  vector[b] = rotated(at(vector, b) ^ at(vector, c), 12);
  vector[a] = at(vector, a) + at(vector, b) + y;
  vector[d] = rotated(at(vector, d) ^ at(vector, a), 8);
  vector[c] = at(vector, c) + at(vector, d);
  vector[b] = rotated(at(vector, b) ^ at(vector, c), 7);
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

function xorAt(words: Uint32Array, index: number, value: number): void {
  words[index] = at(words, index) ^ value;
}
