/**
 * Speed of the whole service over HTTP, as a JSON document on standard output:
 * `npm run bench [-- --only boot,add,… --stores embedded,cluster]`. Every part starts a server of its own on empty stores:
 * a data directory, or names of its own on the servers of `ENGRAM_TEST_…`, which it removes. The same work for each shape.
 * `--searches N` (100): for each type by one client, and twice as many by eight.
 * Corpora: ../shared/data/corpora, or ENGRAM_BENCH_DATA.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchClient, createClient } from './speed/client.ts';
import { type BenchServer, startServer } from './speed/server.ts';
import { SHAPES, type ShapeName } from './speed/shape.ts';
import { distribution, timed } from './speed/timing.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    stores: { type: 'string', default: 'embedded' },
    searches: { type: 'string', default: '100' },
  },
});
/** The shape being measured. */
let shape: ShapeName = 'embedded';
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
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const server = await startServer(shape, settings);
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

/** Time from process start to the first healthy answer, and memory of an idle server. */
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
  return withServer(async (client, server) => {
    const texts = Array.from(
      { length: 400 },
      (_, index) => `Note ${index}: the meeting with Team ${index % 7} moved to room ${index}.`,
    );
    await distribution(texts.slice(0, 50), 1, (text) => add(client, 'warm', [text]));
    const oneClient = await distribution(texts.slice(50, 250), 1, (text) => add(client, 'notes', [text]));
    const eightClients = await distribution(texts.slice(250), 8, (text) => add(client, 'notes', [text]));
    return { oneClient, eightClients, cpuSeconds: server.cpuSeconds() };
  });
}

/** One text per request into a session, and one answered question; by one client, and by eight in sessions of their own. */
async function benchSessions(): Promise<unknown> {
  return withServer(async (client, server) => {
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
    const remember = (number: number) =>
      client.post('/api/v1/remember', {
        datasetName: 'notes',
        session_id: `talk ${number % 8}`,
        self_improvement: false,
        data: `Note ${number}: the meeting with Team ${number % 7} moved to room ${number}.`,
      });
    const answer = (number: number) =>
      client.post('/api/v1/remember/entry', {
        dataset_name: 'notes',
        session_id: `questions ${number % 8}`,
        entry: { type: 'qa', question: `Where is meeting ${number}?`, answer: `In room ${number}.` },
      });
    await distribution(numbers(0, 100), 1, remember);
    await distribution(numbers(0, 100), 1, answer);
    return {
      remember: {
        oneClient: await distribution(numbers(100, 300), 1, remember),
        eightClients: await distribution(numbers(400, 400), 8, remember),
      },
      entry: {
        oneClient: await distribution(numbers(100, 300), 1, answer),
        eightClients: await distribution(numbers(400, 400), 8, answer),
      },
      cpuSeconds: server.cpuSeconds(),
    };
  });
}

/** Sessions of 100 answered questions, a fifth of them rated, and 20 steps: improved once by all nine stages, then with nothing new. */
async function benchImprove(): Promise<unknown> {
  return withServer(
    async (client, server) => {
      const improve = (session: string) => () =>
        client.post('/api/v1/improve', {
          datasetName: 'notes',
          sessionIds: [session],
          buildTruthSubspace: true,
          buildGlobalContextIndex: true,
        });
      const hundredTurnsMs: number[] = [];
      const nothingNew: unknown[] = [];
      for (const session of ['first', 'second', 'third']) {
        for (const entry of sessionEntries(hundredTurnsMs.length)) {
          await client.post('/api/v1/remember/entry', { dataset_name: 'notes', session_id: session, entry });
        }
        hundredTurnsMs.push((await timed(improve(session))).ms);
        nothingNew.push(await distribution(repeat(20), 1, improve(session)));
      }
      return { hundredTurnsMs, nothingNew, cpuSeconds: server.cpuSeconds() };
    },
    { TRIPLET_EMBEDDING: 'true', PERSONALIZATION_ENABLED: 'true' },
  );
}

function sessionEntries(session: number): object[] {
  const turns = Array.from({ length: 100 }, (_, turn) => ({
    type: 'qa',
    question: `Where does Team ${turn % 7} of floor ${turn} meet?`,
    answer: `Team ${turn % 7} of Company ${session}${turn} meets Grace Hopper in room ${session * 100 + turn}.`,
    ...(turn % 5 === 0 ? { feedback_score: 1 + (turn % 4) } : {}),
  }));
  const steps = Array.from({ length: 20 }, (_, step) => ({
    type: 'trace',
    origin_function: `look_${step}`,
    status: step % 4 === 0 ? 'error' : 'success',
    method_return_value: { room: `room ${session}${step}` },
  }));
  return [...turns, ...steps];
}

async function benchMemories(): Promise<unknown> {
  const texts = corpus('memories-50.json').map(textOf);
  return withServer(async (client, server) => {
    const cold = await buildOnce(client, 'cold', texts);
    const warm = await buildOnce(
      client,
      'warm',
      texts.map((text) => `${text} `),
    );
    return { cold, warm, cpuSeconds: server.cpuSeconds() };
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
    const built = { inChapters, asOneText, peakMemoryMb: server.peakMemoryMb(), buildCpuSeconds: server.cpuSeconds() };
    return { ...built, searches: await searches(client, server, 'chapters') };
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

/** Searches of each type before the measured ones. */
const WARM_UP = 100;

/** `cpuMs`: processor time of the server for one search. */
async function searches(client: BenchClient, server: BenchServer, dataset: string): Promise<unknown> {
  const types = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'RAG_COMPLETION', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION'];
  const byType: Record<string, unknown> = {};
  const count = Number(values.searches);
  // All types before the first is measured: they share most of their code, which takes some hundred searches to be compiled.
  for (const type of types) await distribution(repeat(Math.min(WARM_UP, count)), 1, search(client, dataset, type));
  for (const type of types) {
    const before = server.cpuSeconds();
    const oneClient = await distribution(repeat(count), 1, search(client, dataset, type));
    const eightClients = await distribution(repeat(2 * count), 8, search(client, dataset, type));
    const cpuMs = Math.round(((server.cpuSeconds() - before) * 10_000) / (3 * count)) / 10;
    byType[type] = { cpuMs, oneClient, eightClients };
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

const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  boot: benchBoot,
  add: benchAdd,
  sessions: benchSessions,
  improve: benchImprove,
  memories: benchMemories,
  novel: benchNovel,
  growth: benchGrowth,
};
const wanted = values.only?.split(',') ?? Object.keys(parts);
const shapes = values.stores.split(',').map((name) => {
  const known = SHAPES.find((one) => one === name);
  if (known === undefined) throw new Error(`unknown stores ${name}; there are ${SHAPES.join(', ')}`);
  return known;
});
const report: Record<string, unknown> = { node: process.version, cores: cpus().length };
// Part by part, so that the machine is in the same state for all shapes.
for (const name of wanted) {
  const part = parts[name];
  if (part === undefined) throw new Error(`unknown part ${name}; there are ${Object.keys(parts).join(', ')}`);
  for (shape of shapes) {
    process.stderr.write(`bench: ${name} (${shape})\n`);
    const result = await part();
    // A later part may fail, or be too slow to wait for.
    process.stderr.write(`${JSON.stringify(result)}\n`);
    report[name] = shapes.length === 1 ? result : { ...(report[name] as object | undefined), [shape]: result };
  }
}
process.stdout.write(`${JSON.stringify({ stores: shapes.join(), ...report }, null, 2)}\n`);
