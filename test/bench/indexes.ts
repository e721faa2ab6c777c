/**
 * Speed of the dataset indexes on disk, as JSON: `node test/bench/indexes.ts [rows]` (default 100 000). Data is made up
 * from a fixed seed: words by Zipf's law, vectors in 500 clusters, a random graph with hubs.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataItemId, DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { linearRandom } from '../../services/common/kernel/random.ts';
import { datasetScope, PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createSqliteDatasetIndexes } from '../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { EdgeEvidence, NodeEvidence } from '../../services/common/storage/ports/graph-store.ts';
import type { IndexKind } from '../../services/common/storage/ports/index-entry.ts';
import type { TextEntry } from '../../services/common/storage/ports/text-index.ts';
import type { VectorEntry } from '../../services/common/storage/ports/vector-index.ts';

const MEMORY_MODE = '--memory';
const ROWS = process.argv[2] === MEMORY_MODE ? 0 : Number(process.argv[2] ?? 100_000);
const DIMENSIONS = 384;
const SPACE = { model: 'bench/model', dimensions: DIMENSIONS };
const VOCABULARY = 50_000;
const random = linearRandom(7);
const harmonic = Math.log(VOCABULARY);
const centres = Array.from({ length: 500 }, () => gaussian(DIMENSIONS));

const report = process.argv[2] === MEMORY_MODE ? await benchMemory(process.argv[3] ?? '') : await benchAll();
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);

async function benchAll() {
  const directory = mkdtempSync(join(tmpdir(), 'engram-bench-'));
  const startMs = performance.now();
  const indexes = await createSqliteDatasetIndexes({ directory });
  try {
    await indexes.text.upsert(scope('warm'), [textEntry('chunk', 0, 10, 'warm')]);
    const firstWriteMs = round(performance.now() - startMs);
    const measured = {
      rows: ROWS,
      dimensions: DIMENSIONS,
      firstWriteMs,
      novel: await benchNovel(indexes),
      tinyItems: await benchTinyItems(indexes),
      bulk: await benchBulk(indexes),
      text: await benchText(indexes),
      vectors: await benchVectors(indexes),
      graph: await benchGraph(indexes),
    };
    await indexes.close();
    const fileMb = Math.round(statSync(join(directory, 'personal', 'large.db')).size / 1e6);
    const child = execFileSync(process.execPath, [import.meta.filename, MEMORY_MODE, directory], { encoding: 'utf8' });
    return { ...measured, fileMb, memory: JSON.parse(child) as unknown };
  } finally {
    await indexes.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Memory of a fresh process that has answered one query of each sort over the large dataset. */
async function benchMemory(directory: string) {
  const indexes = await createSqliteDatasetIndexes({ directory });
  const bareRssMb = rssMb();
  const large = scope('large');
  const terms = range(5).map((n) => word(100 * (n + 1)));
  const textMs = await timed(() => indexes.text.candidates(large, { kind: 'chunk', terms, limit: 150 }));
  const textRssMb = rssMb();
  const vectorsMs = await timed(() =>
    indexes.vectors.nearest(large, { kind: 'chunk', vector: clustered(), limit: 100 }),
  );
  await timed(() => indexes.graph.neighbours(scope('network'), ['node-1', 'node-2'], {}));
  const rss = { bareRssMb, textRssMb, loadedRssMb: rssMb(), firstTextMs: textMs, firstNearestMs: vectorsMs };
  await indexes.close();
  return rss;
}

/** All rows of a novel: 600 chunks, 8 000 sentences, 600 summaries, 5 000 entities, their vectors and graph. */
async function benchNovel({ text, vectors, graph }: DatasetIndexes) {
  const rows = [
    ...range(600).map((n) => textEntry('chunk', n, 250)),
    ...range(8000).map((n) => textEntry('sentence', n, 18)),
    ...range(600).map((n) => textEntry('summary', n, 60)),
    ...range(5000).map((n) => textEntry('entity', n, 2)),
  ];
  const embedded = [
    ...range(600).map((n) => vectorEntry('chunk', n)),
    ...range(600).map((n) => vectorEntry('summary', n)),
    ...range(5000).map((n) => vectorEntry('entity', n)),
  ];
  const { nodes, edges } = graphRows(5000, 30_000);
  const novel = scope('novel');
  const textMs = await timed(() => text.upsert(novel, rows));
  const vectorsMs = await timed(() => vectors.upsert(novel, SPACE, embedded));
  const graphMs = await timed(() => graph.upsert(novel, { nodes, edges }));
  const replaceTextMs = await timed(() => text.upsert(novel, rows));
  const removeTextMs = await timed(() => text.remove(novel, { item: item('item') }));
  const removeVectorsMs = await timed(() => vectors.remove(novel, { item: item('item') }));
  const removeGraphMs = await timed(() => graph.remove(novel, { item: item('item') }));
  return {
    textMs,
    vectorsMs,
    graphMs,
    totalMs: textMs + vectorsMs + graphMs,
    replaceTextMs,
    removeTextMs,
    removeVectorsMs,
    removeGraphMs,
  };
}

/** Short memories, one after the other: each its own text, vector and graph call. */
async function benchTinyItems({ text, vectors, graph }: DatasetIndexes) {
  const tiny = scope('tiny');
  const times: Record<'text' | 'vectors' | 'graph', number[]> = { text: [], vectors: [], graph: [] };
  for (const n of range(200)) {
    const name = `tiny-${n}`;
    const rows = [
      textEntry('chunk', 0, 30, name),
      textEntry('summary', 0, 15, name),
      ...range(2).map((m) => textEntry('sentence', m, 15, name)),
      ...range(3).map((m) => textEntry('entity', m, 2, name)),
    ];
    const embedded = [vectorEntry('chunk', 0, name), vectorEntry('summary', 0, name), vectorEntry('entity', 0, name)];
    const evidence = graphRows(8, 12, name);
    times.text.push(await timed(() => text.upsert(tiny, rows)));
    times.vectors.push(await timed(() => vectors.upsert(tiny, SPACE, embedded)));
    times.graph.push(await timed(() => graph.upsert(tiny, evidence)));
  }
  return { text: percentiles(times.text), vectors: percentiles(times.vectors), graph: percentiles(times.graph) };
}

async function benchBulk({ text, vectors }: DatasetIndexes) {
  const large = scope('large');
  let textMs = 0;
  let vectorsMs = 0;
  for (let start = 0; start < ROWS; start += 1000) {
    const numbers = range(Math.min(1000, ROWS - start)).map((n) => start + n);
    const rows = numbers.map((n) => textEntry('chunk', n, 250, `item-${start}`));
    const embedded = numbers.map((n) => vectorEntry('chunk', n, `item-${start}`));
    textMs += await timed(() => text.upsert(large, rows));
    vectorsMs += await timed(() => vectors.upsert(large, SPACE, embedded));
  }
  return { textMs, vectorsMs };
}

async function benchText({ text }: DatasetIndexes) {
  const large = scope('large');
  const queries = (from: number, to: number) =>
    range(40).map(() => [...new Set(range(5).map(() => word(from + Math.floor(random() * (to - from)))))]);
  const run = async (lists: readonly (readonly string[])[], filter: { readonly items?: readonly DataItemId[] } = {}) =>
    percentiles(
      await eachTimed(lists, (terms) => text.candidates(large, { kind: 'chunk', terms, limit: 150, ...filter })),
    );
  return {
    cold: await run(queries(20, 20_000).slice(0, 1)),
    veryCommon: await run(queries(0, 20)),
    common: await run(queries(20, 200)),
    middle: await run(queries(200, 2000)),
    rare: await run(queries(2000, 20_000)),
    filtered: await run(queries(200, 2000), { items: [item('item-0'), item('item-5000')] }),
  };
}

async function benchVectors({ vectors }: DatasetIndexes) {
  const large = scope('large');
  const nearest = (vector: Float32Array) => vectors.nearest(large, { kind: 'chunk', vector, limit: 100 });
  const queries = range(60).map(() => clustered());
  const loadMs = await timed(() => nearest(clustered()));
  const lag = measureLag();
  const oneByOne = percentiles(await eachTimed(queries, nearest));
  const lagMs = lag();
  const eightAtOnceMs = (await timed(() => Promise.all(queries.slice(0, 8).map(nearest)))) / 8;
  const afterUpsert: number[] = [];
  for (const n of range(10)) {
    await vectors.upsert(large, SPACE, [vectorEntry('chunk', ROWS + n, 'late')]);
    afterUpsert.push(await timed(() => nearest(clustered())));
  }
  return {
    loadMs,
    oneByOne,
    eightAtOnceMsEach: eightAtOnceMs,
    afterUpsert: percentiles(afterUpsert),
    mainLoopLagMs: lagMs,
  };
}

async function benchGraph({ graph }: DatasetIndexes) {
  const network = scope('network');
  let writeMs = 0;
  const { nodes, edges } = graphRows(ROWS, 3 * ROWS);
  for (let start = 0; start < edges.length; start += 10_000) {
    const part = { nodes: nodes.slice(start / 3, (start + 10_000) / 3), edges: edges.slice(start, start + 10_000) };
    writeMs += await timed(() => graph.upsert(network, part));
  }
  const seeds = range(40).map(() => range(50).map(() => `node-${Math.floor(random() * ROWS)}`));
  const neighbours = await eachTimed(seeds, (ids) => graph.neighbours(network, ids, { limitPerNode: 16 }));
  const lookup = await eachTimed(seeds, (ids) => graph.nodes(network, ids));
  return {
    writeMs,
    neighbours: percentiles(neighbours),
    nodes: percentiles(lookup),
  };
}

function textEntry(kind: IndexKind, number: number, length: number, name = 'item'): TextEntry {
  const tokens = range(length)
    .map(() => word(Math.floor(Math.exp(random() * harmonic)) - 1))
    .join(' ');
  return {
    kind,
    id: `${kind}-${number}`,
    item: item(name),
    generation: 1,
    ordinal: number,
    nodeSets: [],
    tokens,
    payload: { text: tokens, documentId: name, chunkIndex: number },
  };
}

function vectorEntry(kind: IndexKind, number: number, name = 'item'): VectorEntry {
  return { kind, id: `${kind}-${number}`, item: item(name), generation: 1, nodeSets: [], vector: clustered() };
}

function graphRows(nodeCount: number, edgeCount: number, name = 'item') {
  const nodes: NodeEvidence[] = range(nodeCount).map((n) => ({
    id: `node-${n}`,
    item: item(name),
    generation: 1,
    type: 'Entity',
    name: `name of node ${n}`,
    mentions: 1 + (n % 7),
    nodeSets: [],
    properties: { description: `a node numbered ${n}` },
  }));
  const edges: EdgeEvidence[] = range(edgeCount).map((n) => ({
    source: `node-${Math.floor(random() * nodeCount)}`,
    // A third of the edges go to few nodes: hubs, as types and places are.
    target: `node-${Math.floor(random() * (n % 3 === 0 ? Math.min(nodeCount, 300) : nodeCount))}`,
    relation: `relation_${n % 40}`,
    item: item(name),
    generation: 1,
    weight: 1 + (n % 5),
    properties: {
      chunkId: `chunk-${n % 600}`,
      text: `the sentence that says so, number ${n}, as long as sentences are`,
    },
  }));
  return { nodes, edges };
}

function clustered(): Float32Array {
  const centre = centres[Math.floor(random() * centres.length)] as Float32Array;
  return gaussian(DIMENSIONS).map((value, index) => 0.7 * value + (centre[index] as number));
}

function gaussian(length: number): Float32Array {
  return Float32Array.from({ length }, () => random() + random() + random() + random() - 2);
}

function word(rank: number): string {
  return `w${rank.toString(36)}`;
}

function item(name: string): DataItemId {
  return asId<DataItemId>(name);
}

function scope(name: string) {
  return datasetScope(PERSONAL_TENANT, asId<DatasetId>(name));
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return round(performance.now() - start);
}

async function eachTimed<T>(values: readonly T[], work: (value: T) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (const value of values) times.push(await timed(() => work(value)));
  return times;
}

/** Greatest delay of the event loop until the returned function is called. */
function measureLag(): () => number {
  let greatest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    greatest = Math.max(greatest, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  return () => {
    clearInterval(timer);
    return round(greatest);
  };
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function rssMb(): number {
  return Math.round(process.memoryUsage.rss() / 1e6);
}
