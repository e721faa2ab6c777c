import { readFileSync } from 'node:fs';
import { nextHash, slotOfHash } from '../../kernel/word-hash.ts';
import { createDotProducts } from './dot-products.ts';

export interface TableRow {
  readonly word: string;
  /** Place by frequency in English, from 0. */
  readonly rank: number;
  /** Direction of the vector; its length means nothing. */
  readonly values: Int8Array;
}

/** Vectors of the common words of English. */
interface WordTable {
  readonly dimensions: number;
  readonly size: number;
  /** Row of a lower-case word, for `cosine`; -1 for an unknown one. */
  row(word: string): number;
  wordAt(row: number): string;
  /** Place of the word of a row by frequency in English, from 0. */
  rank(row: number): number;
  /** The nearest words of a common lower-case word, nearest first, each of another stem; none for other words. */
  nearest(word: string): Iterable<string>;
  /** Cosine of a vector of unit length and the vector of a row. */
  cosine(vector: Float32Array, row: number): number;
  /** Cosine of the vectors of two rows; 0 for one that is not in the table. */
  cosineOf(one: number, other: number): number;
  /** Unit vector and frequency rank of a lower-case word; null for an unknown one. */
  find(word: string): WordEntry | null;
  /** Cosine of the vectors of two lower-case words, at least 0; 0 when one of them is unknown. */
  similarity(one: string, other: string): number;
}

interface WordEntry {
  /** Vector of unit length. */
  readonly vector: Float32Array;
  /** Place by frequency in English, from 0. */
  readonly rank: number;
}

const MAGIC = 0x44525745;
const HEADER_BYTES = 16;
const CACHED_WORDS = 8_000;
/** Number of words that `nearest` returns. */
export const NEIGHBOURS = 32;

/**
 * Layout, little endian: magic, number of words, dimensions, bytes of the words (u32 each); end offsets of the words (u32),
 * ranks (u32), the words in UTF-8 in the order of their bytes, the vectors (int8).
 */
export function encodeTable(rows: readonly TableRow[], dimensions: number): Buffer {
  const sorted = rows
    .map((row) => ({ ...row, bytes: Buffer.from(row.word, 'utf8') }))
    .toSorted((a, b) => Buffer.compare(a.bytes, b.bytes));
  const header = Buffer.alloc(HEADER_BYTES);
  const wordBytes = sorted.reduce((sum, { bytes }) => sum + bytes.length, 0);
  for (const [at, value] of [MAGIC, sorted.length, dimensions, wordBytes].entries())
    header.writeUInt32LE(value, 4 * at);
  const ends = Buffer.alloc(4 * sorted.length);
  const ranks = Buffer.alloc(4 * sorted.length);
  let end = 0;
  for (const [at, { bytes, rank }] of sorted.entries()) {
    end += bytes.length;
    ends.writeUInt32LE(end, 4 * at);
    ranks.writeUInt32LE(rank, 4 * at);
  }
  return Buffer.concat([
    header,
    ends,
    ranks,
    ...sorted.map(({ bytes }) => bytes),
    ...sorted.map(({ values }) => Buffer.from(values.buffer)),
  ]);
}

let shared: WordTable | undefined;

/** The table that comes with the program, read on first use: 8 MB outside the heap. */
export function wordTable(): WordTable {
  shared ??= readWordTable();
  return shared;
}

/** Throws when the file is damaged. */
export function readWordTable(file: string | URL = new URL('words.bin', import.meta.url)): WordTable {
  const read = readFileSync(file);
  if (read.length < HEADER_BYTES || read.readUInt32LE(0) !== MAGIC) {
    throw new Error(`The word vectors in ${String(file)} are damaged: install the program again.`);
  }
  const [size, dimensions, wordBytes] = [read.readUInt32LE(4), read.readUInt32LE(8), read.readUInt32LE(12)];
  const ranksAt = HEADER_BYTES + 4 * size;
  const wordsAt = ranksAt + 4 * size;
  const vectorsAt = wordsAt + wordBytes;
  /** Without the vectors, which are most of the file. */
  const content = Buffer.from(read.subarray(0, vectorsAt));
  const dots = createDotProducts(
    new Int8Array(read.buffer, read.byteOffset + vectorsAt, size * dimensions),
    dimensions,
  );
  const { vectors } = dots;
  const scaleOf = inverseLengths(vectors, dimensions, size);
  const words = content.subarray(wordsAt);
  const ends = Uint32Array.from({ length: size }, (_, row) => content.readUInt32LE(HEADER_BYTES + 4 * row));
  const endOf = (row: number) => (row < 0 ? 0 : (ends[row] as number));
  const rowOf = indexWords(words, ends);
  const ranks = Uint32Array.from({ length: size }, (_, row) => content.readUInt32LE(ranksAt + 4 * row));
  const rank = (row: number) => ranks[row] as number;
  /** Most callers only want the rank, and a vector takes half a kilobyte. */
  const entryOf = (row: number): WordEntry => {
    let vector: Float32Array | undefined;
    return {
      rank: rank(row),
      get vector() {
        vector ??= unitVector(vectors.subarray(row * dimensions, (row + 1) * dimensions));
        return vector;
      },
    };
  };
  const known = new Map<string, WordEntry | null>();
  const find = (word: string): WordEntry | null => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const row = rowOf(word);
    const entry = row < 0 ? null : entryOf(row);
    if (known.size >= CACHED_WORDS) known.clear();
    known.set(word, entry);
    return entry;
  };
  const cosine = (vector: Float32Array, row: number): number => {
    const start = row * dimensions;
    let sum = 0;
    for (let at = 0; at < dimensions; at++) sum += (vector[at] as number) * (vectors[start + at] as number);
    return sum * scaleOf(row);
  };
  const wordAt = (row: number) => content.toString('utf8', wordsAt + endOf(row - 1), wordsAt + endOf(row));
  let neighbours: ReturnType<typeof readNeighbours> | undefined;
  return {
    dimensions,
    size,
    row: rowOf,
    wordAt,
    rank,
    *nearest(word) {
      neighbours ??= readNeighbours();
      for (const row of neighbours(rowOf(word))) yield wordAt(row);
    },
    cosine,
    cosineOf(one, other) {
      if (!(one >= 0 && one < size && other >= 0 && other < size)) return 0;
      return dots.of(one, other) * scaleOf(one) * scaleOf(other);
    },
    find,
    similarity(one, other) {
      const [entry, row] = [find(one), rowOf(other)];
      return entry === null || row < 0 ? 0 : Math.max(0, cosine(entry.vector, row));
    },
  };
}

/** Returns what gives 1 / length of the vector of a row. */
function inverseLengths(vectors: Int8Array, dimensions: number, size: number): (row: number) => number {
  /** 0: not computed yet. */
  const scales = new Float32Array(size);
  return (row) => {
    let scale = scales[row] as number;
    if (scale !== 0) return scale;
    const start = row * dimensions;
    let squares = 0;
    for (let at = start; at < start + dimensions; at++) squares += (vectors[at] as number) ** 2;
    scale = 1 / Math.sqrt(squares || 1);
    scales[row] = scale;
    return scale;
  };
}

/** Returns the place of a word among others; -1 when it is not there. */
type PlaceOfWord = (word: string) => number;

const EMPTY = -1;
/** Places of the hash table for each word: with fewer, different words meet in one place. */
const SLOTS_PER_WORD = 2;
const NON_ASCII = /[^\0-\x7f]/u;

/** Indexes words, which stand one after the other in UTF-8, with the ends of each, by a hash table with open addressing. */
export function indexWords(words: Uint8Array, ends: Uint32Array): PlaceOfWord {
  const startOf = (place: number) => (place === 0 ? 0 : (ends[place - 1] as number));
  const size = 2 ** Math.ceil(Math.log2(SLOTS_PER_WORD * Math.max(1, ends.length)));
  const slots = new Int32Array(size).fill(EMPTY);
  for (let place = 0; place < ends.length; place++) {
    let hash = 0;
    for (let at = startOf(place); at < (ends[place] as number); at++) hash = nextHash(hash, words[at] as number);
    let slot = slotOfHash(hash, size);
    while (slots[slot] !== EMPTY) slot = (slot + 1) & (size - 1);
    slots[slot] = place;
  }
  return (word) => {
    // Letters outside ASCII take several bytes each, which then stand for characters.
    const bytes = NON_ASCII.test(word) ? Buffer.from(word, 'utf8').toString('latin1') : word;
    const length = bytes.length;
    let hash = 0;
    for (let at = 0; at < length; at++) hash = nextHash(hash, bytes.charCodeAt(at));
    for (let slot = slotOfHash(hash, size); ; slot = (slot + 1) & (size - 1)) {
      const place = slots[slot] as number;
      if (place === EMPTY) return -1;
      const start = startOf(place);
      if ((ends[place] as number) - start !== length) continue;
      let at = 0;
      while (at < length && words[start + at] === bytes.charCodeAt(at)) at += 1;
      if (at === length) return place;
    }
  };
}

/** Returns the rows nearest to a row, from the file that `test/bench/make-neighbours.ts` writes. */
function readNeighbours(): (row: number) => readonly number[] {
  const content = readFileSync(new URL('neighbours.bin', import.meta.url));
  const count = content.readUInt32LE(0);
  const rowAt = (place: number) => content.readUInt32LE(4 + 4 * place);
  const places = new Map(Array.from({ length: count }, (_, place) => [rowAt(place), place]));
  return (row) => {
    const place = places.get(row);
    if (place === undefined) return [];
    const start = 4 + 4 * count + 2 * NEIGHBOURS * place;
    return Array.from({ length: NEIGHBOURS }, (_, at) => rowAt(content.readUInt16LE(start + 2 * at)));
  };
}

function unitVector(values: Int8Array): Float32Array {
  const vector = Float32Array.from(values);
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
