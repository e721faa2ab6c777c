/**
 * The search of vectors among many, against an exact one: `node test/bench/nearest.ts [rows] [hashing|words]` (default
 * 1,000,000 hashing). A row is the sum of two sentences, a query six words of a sentence. `hashing`: the embedder without a
 * model. `words`: means of word vectors, which are dense as those of a model.
 */
import type { DataItemId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createHashingEmbedder } from '../../services/common/models/hashing/hashing-embedder.ts';
import { createVectorScan } from '../../services/common/storage/indexes/wasm-vectors/vector-scan.ts';
import type { VectorSource } from '../../services/common/storage/indexes/wasm-vectors/vector-source.ts';
import { normaliseInto } from '../../services/common/storage/indexes/wasm-vectors/vector-space.ts';
import { wordTable } from '../../services/common/text/words/word-table.ts';
import { questionsOf, readSentences } from './scale-text.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const QUERIES = 60;
const QUANTISE_ABOVE = 50_000;
const item = asId<DataItemId>('item');
const sentences = readSentences();
const hashing = createHashingEmbedder();
const embed = process.argv[3] === 'words' ? meanOfWords : embedByHashing;
const parts: Float32Array[] = [];
for (const sentence of sentences) parts.push(await embed(sentence));
const dimensions = parts[0]?.length ?? 0;
const row = new Float32Array(dimensions);

const source: VectorSource = {
  space: () => ({ model: 'bench', dimensions }),
  count: () => ROWS,
  eachAfter(_, after, visit) {
    for (let number = after + 1; number < ROWS; number++) {
      if (!visit({ row: number, id: String(number), origin: 0, vector: vectorOf(number) })) break;
    }
  },
  vectors: (rows) => new Map(rows.map((number) => [number, vectorOf(number).slice()])),
  provenance: () => ({ item, generation: 1 }),
  accepted: ({ items }) => (items === undefined ? null : new Set([0])),
};
const queries = await Promise.all(questionsOf(sentences, QUERIES).map(async (text) => unit(await embed(text))));
const scan = createVectorScan({ memoryBytes: 2 ** 31, quantiseAbove: QUANTISE_ABOVE });
const load = measured(() => nearest(queries[0] as Float32Array, 1));
process.stdout.write(
  `${JSON.stringify({ rows: ROWS, dimensions, loadCpuMs: load.cpuMs, limits: [10, 50].map(compare) })}\n`,
);

/** Similarities that the exact search finds too count as found, since many rows may tie. */
function compare(limit: number) {
  const times = { sketches: [] as number[], exact: [] as number[] };
  let found = 0;
  for (const query of queries) {
    const near = measured(() => nearest(query, limit));
    const exact = measured(() => nearest(query, limit, { items: [item] }));
    times.sketches.push(near.cpuMs);
    times.exact.push(exact.cpuMs);
    const least = exact.result.at(-1)?.similarity ?? 1;
    found += near.result.filter(({ similarity }) => similarity >= least).length;
  }
  return {
    limit,
    recall: Math.round((10_000 * found) / (QUERIES * limit)) / 10_000,
    sketchesCpuMs: median(times.sketches),
    exactCpuMs: median(times.exact),
  };
}

/** A filter, even of all rows, has every row compared. */
function nearest(vector: Float32Array, limit: number, filter = {}) {
  return scan.nearest('bench', source, 'chunk', [{ vector, limit, ...filter }])[0] ?? [];
}

function vectorOf(number: number): Float32Array {
  const count = parts.length;
  const one = parts[(number * 7919) % count] as Float32Array;
  const other = parts[(number * 104_729 + Math.floor(number / count) * 31 + 1) % count] as Float32Array;
  for (let at = 0; at < dimensions; at++) row[at] = (one[at] as number) + (other[at] as number);
  return unit(row);
}

function unit(vector: Float32Array): Float32Array {
  normaliseInto(vector, vector, 'bench');
  return vector;
}

async function embedByHashing(text: string): Promise<Float32Array> {
  const [vector] = await hashing.embed([text], { scope: { tenant: PERSONAL_TENANT }, purpose: 'query' });
  return Float32Array.from(vector ?? []);
}

async function meanOfWords(text: string): Promise<Float32Array> {
  const table = wordTable();
  const sum = new Float32Array(table.dimensions);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const entry = table.find(word);
    if (entry === null) continue;
    const weight = 1 / (1 + 3000 / (entry.rank + 1));
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + weight * (entry.vector[at] as number);
  }
  return sum;
}

function measured<Result>(work: () => Result): { readonly result: Result; readonly cpuMs: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, cpuMs: Math.round((user + system) / 10) / 100 };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
