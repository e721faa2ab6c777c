/**
 * Speed of the whole service over HTTP, as a JSON document on standard output: `npm run bench [-- --only boot,add,…]`.
 * Every part starts a server of its own on an empty data directory. Corpora: ../shared/data/corpora, or ENGRAM_BENCH_DATA.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchClient, createClient } from './speed/client.ts';
import { type BenchServer, startServer } from './speed/server.ts';
import { distribution, timed } from './speed/timing.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, chunks: { type: 'string', default: '100000' } } });
const data = process.env['ENGRAM_BENCH_DATA'] ?? join(import.meta.dirname, '../../../shared/data/corpora');

interface Chapter {
  readonly title: string;
  readonly content: string;
}

function corpus(name: string): readonly Chapter[] {
  const file = join(data, name);
  if (!existsSync(file)) throw new Error(`${file} is missing; set ENGRAM_BENCH_DATA to a folder with ${name}`);
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Chapter[];
}

const textOf = ({ title, content }: Chapter): string => `${title}\n\n${content}`;

async function withServer<Result>(
  work: (client: BenchClient, server: BenchServer) => Promise<Result>,
): Promise<Result> {
  const server = await startServer();
  try {
    return await work(createClient(server.baseUrl), server);
  } finally {
    await server.stop();
  }
}

const add = (client: BenchClient, datasetName: string, texts: readonly string[]): Promise<unknown> =>
  client.post('/api/v1/add', { datasetName, data: texts });
const cognify = (client: BenchClient, dataset: string): Promise<unknown> =>
  client.post('/api/v1/cognify', { datasets: [dataset] });
const search = (client: BenchClient, dataset: string, searchType: string) => (query: string) =>
  client.post('/api/v1/search', {
    query,
    searchType,
    datasets: [dataset],
    onlyContext: searchType.endsWith('COMPLETION'),
    topK: 10,
  });

/** Process start to the first healthy answer, and what an idle server weighs. */
async function benchBoot(): Promise<unknown> {
  const boots: number[] = [];
  const idle: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    await withServer(async (_client, server) => {
      boots.push(Math.round(server.bootMs));
      await new Promise((resolve) => setTimeout(resolve, 1500));
      idle.push(server.memoryMb());
    });
  }
  return { bootMs: boots.toSorted((a, b) => a - b), idleMemoryMb: idle.toSorted((a, b) => a - b) };
}

/** One short text per request. */
async function benchAdd(): Promise<unknown> {
  return withServer(async (client) => {
    const texts = Array.from(
      { length: 400 },
      (_, index) => `Note ${index}: the meeting with Team ${index % 7} moved to room ${index}.`,
    );
    await distribution(texts.slice(0, 50), 1, (text) => add(client, 'warm', [text]));
    const oneClient = await distribution(texts.slice(50, 250), 1, (text) => add(client, 'notes', [text]));
    const eightClients = await distribution(texts.slice(250), 8, (text) => add(client, 'notes', [text]));
    return { oneClient, eightClients };
  });
}

async function benchMemories(): Promise<unknown> {
  const texts = corpus('memories-50.json').map(textOf);
  return withServer(async (client) => {
    const cold = await buildOnce(client, 'cold', texts);
    const warm = await buildOnce(
      client,
      'warm',
      texts.map((text) => `${text} `),
    );
    return { cold, warm };
  });
}

async function buildOnce(client: BenchClient, dataset: string, texts: readonly string[]) {
  const added = await timed(() => add(client, dataset, texts));
  const cognified = await timed(() => cognify(client, dataset));
  return {
    items: texts.length,
    addMs: added.ms,
    cognifyMs: cognified.ms,
    totalMs: Math.round(added.ms + cognified.ms),
  };
}

async function benchNovel(): Promise<unknown> {
  const chapters = corpus('moby-dick.json').map(textOf);
  return withServer(async (client, server) => {
    const inChapters = await buildOnce(client, 'chapters', chapters);
    const asOneText = await buildOnce(client, 'whole', [chapters.join('\n\n')]);
    return { inChapters, asOneText, peakMemoryMb: server.peakMemoryMb(), searches: await searches(client, 'chapters') };
  });
}

const QUESTIONS = [
  'Who is the captain of the Pequod?',
  'What does Ishmael say about the sea?',
  'Where did Queequeg come from?',
  'Why does Ahab hunt the white whale?',
  'What is a whale ship like at night?',
  'Who built the chapel in New Bedford?',
  'harpoon and line in the boat',
  'the colour of the whale',
  'How is oil taken from the sperm whale?',
  'What happened to Pip?',
];
const repeat = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${QUESTIONS[index % QUESTIONS.length]}`);

async function searches(client: BenchClient, dataset: string): Promise<unknown> {
  const types = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'RAG_COMPLETION', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION'];
  const byType: Record<string, unknown> = {};
  for (const type of types) {
    await distribution(repeat(20), 1, search(client, dataset, type));
    byType[type] = {
      oneClient: await distribution(repeat(100), 1, search(client, dataset, type)),
      eightClients: await distribution(repeat(200), 8, search(client, dataset, type)),
    };
  }
  return byType;
}

/** The same texts once, four times and sixteen times (each copy a little different): cost must grow with the data. */
async function benchGrowth(): Promise<unknown> {
  const chapters = corpus('moby-dick.json').map(textOf).slice(0, 30);
  const rows: unknown[] = [];
  for (const factor of [1, 4, 16]) {
    const texts = Array.from({ length: factor }, (_, copy) => chapters.map((text) => `Copy ${copy}. ${text}`)).flat();
    rows.push(
      await withServer(async (client) => {
        await buildOnce(
          client,
          'warm',
          texts.slice(0, 2).map((text) => `${text}.`),
        );
        const built = await buildOnce(client, 'growth', texts);
        await distribution(repeat(20), 1, search(client, 'growth', 'HYBRID_COMPLETION'));
        return {
          factor,
          ...built,
          hybrid: await distribution(repeat(100), 1, search(client, 'growth', 'HYBRID_COMPLETION')),
        };
      }),
    );
  }
  return rows;
}

/** One dataset of many chunks: searches alone and a hundred at once. */
async function benchLarge(): Promise<unknown> {
  const wanted = Number(values.chunks);
  const sentences = corpus('moby-dick.json')
    .flatMap(({ content }) => content.split(/(?<=[.!?])\s+/))
    .filter((text) => text.length > 40);
  return withServer(async (client, server) => {
    const started = performance.now();
    for (let done = 0; done < wanted; done += 500) {
      const texts = Array.from({ length: Math.min(500, wanted - done) }, (_, index) => {
        const at = done + index;
        return `Entry ${at}. ${sentences[(at * 7919) % sentences.length]} ${sentences[(at * 104729) % sentences.length]}`;
      });
      await add(client, 'large', texts);
    }
    const addMs = Math.round(performance.now() - started);
    const { ms: cognifyMs } = await timed(() => cognify(client, 'large'));
    await distribution(repeat(20), 1, search(client, 'large', 'HYBRID_COMPLETION'));
    return {
      chunks: wanted,
      addMs,
      cognifyMs,
      hybrid: await distribution(repeat(100), 1, search(client, 'large', 'HYBRID_COMPLETION')),
      hundredAtOnce: await distribution(repeat(300), 100, search(client, 'large', 'HYBRID_COMPLETION')),
      memoryMb: server.memoryMb(),
    };
  });
}

const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  boot: benchBoot,
  add: benchAdd,
  memories: benchMemories,
  novel: benchNovel,
  growth: benchGrowth,
  large: benchLarge,
};
const wanted = values.only?.split(',') ?? Object.keys(parts);
const report: Record<string, unknown> = { node: process.version, cores: cpus().length };
for (const name of wanted) {
  const part = parts[name];
  if (part === undefined) throw new Error(`unknown part ${name}; there are ${Object.keys(parts).join(', ')}`);
  process.stderr.write(`bench: ${name}\n`);
  report[name] = await part();
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
