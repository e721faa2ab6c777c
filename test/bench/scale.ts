/**
 * The service with many chunks, as a JSON document on standard output:
 * `npm run bench:scale [-- --chunks 10000,100000 --stores embedded --searches 100 --keep DIRECTORY]`.
 * For each size: one dataset is added and cognified over HTTP, searched by a fresh process, and forgotten, one item first.
 * `--keep`: the built data stays in `DIRECTORY/<chunks>`, is used by the next run, and is not forgotten.
 * Text: sentences of a novel and of encyclopedia articles in ../shared/data, or ENGRAM_BENCH_DATA.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { questionsOf, readSentences } from './scale-text.ts';
import { type BenchClient, createClient } from './speed/client.ts';
import { type BenchServer, startServer } from './speed/server.ts';
import { SHAPES } from './speed/shape.ts';
import { distribution, timed } from './speed/timing.ts';

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '10000,100000' },
    stores: { type: 'string', default: 'embedded' },
    searches: { type: 'string', default: '100' },
    types: {
      type: 'string',
      default: 'CHUNKS,CHUNKS_LEXICAL,SUMMARIES,RAG_COMPLETION,GRAPH_COMPLETION,HYBRID_COMPLETION',
    },
    keep: { type: 'string' },
  },
});
const shape = SHAPES.find((name) => name === values.stores);
if (shape === undefined) throw new Error(`unknown stores ${values.stores}; there are ${SHAPES.join(', ')}`);
const searches = Number(values.searches);
const sentences = readSentences();

/** A document of a hundred short sections (a chunk each): as items of their own they would measure the cost of an item. */
const SECTIONS_PER_DOCUMENT = 100;
/** Fits one section, rarely two. */
const CHUNK_TOKENS = 100;
/** Short sections share a chunk. */
const SECTIONS_PER_CHUNK = 1.17;
const DOCUMENTS_PER_REQUEST = 20;

const sizes: unknown[] = [];
for (const chunks of values.chunks.split(',').map(Number)) {
  process.stderr.write(`bench: ${chunks} chunks\n`);
  sizes.push(await measure(chunks));
  process.stderr.write(`${JSON.stringify(sizes.at(-1))}\n`);
}
const [cpu] = cpus();
const machine = { node: process.version, cpu: cpu?.model, cores: cpus().length };
process.stdout.write(`${JSON.stringify({ stores: shape, ...machine, sizes }, null, 2)}\n`);

async function measure(chunks: number): Promise<object> {
  const directory = values.keep === undefined ? undefined : join(values.keep, String(chunks));
  const isBuilt = directory !== undefined && existsSync(join(directory, 'control.db'));
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  let server = await startServer(shape, {}, directory);
  try {
    const built = isBuilt ? {} : await build(server, chunks);
    server = await server.restart();
    const searched = await searchAll(server);
    const measured = { chunks, ...built, diskMb: diskMb(server.directory), ...searched };
    return directory === undefined ? { ...measured, ...(await forget(server)) } : measured;
  } finally {
    await (directory === undefined ? server.stop() : server.end());
  }
}

/** Adds and cognifies documents, and says how fast. */
async function build(server: BenchServer, chunks: number): Promise<object> {
  const client = createClient(server.baseUrl);
  const documents = Math.ceil((chunks * SECTIONS_PER_CHUNK) / SECTIONS_PER_DOCUMENT);
  const added = await timed(async () => {
    for (let start = 0; start < documents; start += DOCUMENTS_PER_REQUEST) {
      const count = Math.min(DOCUMENTS_PER_REQUEST, documents - start);
      await client.post('/api/v1/add', {
        datasetName: 'large',
        data: Array.from({ length: count }, (_, at) => documentText(start + at)),
      });
    }
  });
  const { ms, result } = await timed(() =>
    client.post('/api/v1/cognify', { datasets: ['large'], chunkSize: CHUNK_TOKENS, dataPerBatch: 100 }),
  );
  const [run] = Object.values(result as Record<string, { readonly payload: { readonly chunks: number } }>);
  const seconds = Math.round(added.ms + ms) / 1000;
  return {
    ...run?.payload,
    addMs: added.ms,
    cognifyMs: ms,
    chunksPerSecond: Math.round((run?.payload.chunks ?? 0) / seconds),
    buildCpuSeconds: server.cpuSeconds(),
    buildPeakMemoryMb: server.peakMemoryMb(),
  };
}

function documentText(number: number): string {
  return Array.from({ length: SECTIONS_PER_DOCUMENT }, (_, index) => {
    const at = number * SECTIONS_PER_DOCUMENT + index;
    return `# Entry ${at}\n\n${sentence(at * 7919)} ${sentence(at * 104_729 + 1)}`;
  }).join('\n\n');
}

function sentence(at: number): string {
  return sentences[at % sentences.length] ?? '';
}

/** Searches by one client, each question once, then the same by eight; a type has questions of its own. */
async function searchAll(server: BenchServer): Promise<object> {
  const client = createClient(server.baseUrl);
  const idleMemoryMb = server.memoryMb();
  const first = await timed(() => search(client, 'CHUNKS')('Who is the captain of the Pequod?'));
  const byType: Record<string, unknown> = {};
  for (const [at, type] of values.types.split(',').entries()) {
    const asked = questionsOf(sentences, 3 * searches, at * 3 * searches);
    await distribution(asked.slice(0, searches), 1, search(client, type));
    const cpuBefore = server.cpuSeconds();
    const oneClient = await distribution(asked.slice(searches, 2 * searches), 1, search(client, type));
    const cpuMs = Math.round(((server.cpuSeconds() - cpuBefore) / searches) * 10_000) / 10;
    const again = await distribution(asked.slice(searches, 2 * searches), 1, search(client, type));
    const eightClients = await distribution(asked.slice(2 * searches), 8, search(client, type));
    byType[type] = { oneClient, cpuMs, again, eightClients };
  }
  return { idleMemoryMb, firstSearchMs: first.ms, byType, memoryMb: server.memoryMb() };
}

function search(client: BenchClient, searchType: string) {
  return (query: string) =>
    client.post('/api/v1/search', {
      query,
      searchType,
      datasets: ['large'],
      onlyContext: searchType.endsWith('COMPLETION'),
      topK: 10,
    });
}

/** Forgets one item, then everything; both answer when nothing is left. */
async function forget(server: BenchServer): Promise<object> {
  const client = createClient(server.baseUrl);
  const datasets = (await client.get('/api/v1/datasets')) as readonly { readonly id: string; readonly name: string }[];
  const dataset = datasets.find(({ name }) => name === 'large')?.id ?? '';
  const items = (await client.get(`/api/v1/datasets/${dataset}/data`)) as readonly { readonly id: string }[];
  const one = await timed(() => client.post('/api/v1/forget', { datasetId: dataset, dataId: items[0]?.id }));
  const all = await timed(() => client.post('/api/v1/forget', { datasetId: dataset }));
  return { forgetOneMs: one.ms, forgetAllMs: all.ms, diskAfterMb: diskMb(server.directory) };
}

function diskMb(directory: string): number {
  return Number(execFileSync('du', ['-sm', directory], { encoding: 'utf8' }).split('\t')[0]);
}
