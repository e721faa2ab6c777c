import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { leftBehind, NOTHING, residentBytes } from '../support/left-behind.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';
import { median, percentile, report, slope } from './measures.ts';
import { makeText } from './texts.ts';

const MINUTES = Number(process.env['ENGRAM_SOAK_MINUTES'] ?? 10);
const MIB = 1024 * 1024;
/** What is kept stays the same in size, so memory must, too. */
const DATASETS = 6;
const ITEMS = 20;
const CLIENTS = 6;

interface Sample {
  readonly minute: number;
  readonly megabytes: number;
  readonly files: number;
}

describe('a mixed load', function () {
  this.timeout((MINUTES + 5) * 60_000);
  const data = makeDataDir();
  let server: EngramProcess;
  let wire: Wire;
  before(async () => {
    server = await startProcess({ dataDir: data.path });
    wire = createWire(server.baseUrl);
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  it(`of ${MINUTES} minutes fails nowhere, and neither memory nor open files grow`, async () => {
    const latencies = new Map<string, number[]>();
    const failures: string[] = [];
    const call = async (
      what: string,
      send: () => Promise<Answer>,
      allowed: readonly number[] = [200],
    ): Promise<void> => {
      const start = performance.now();
      const answer = await send();
      const list = latencies.get(what) ?? [];
      latencies.set(what, list);
      list.push(performance.now() - start);
      if (!allowed.includes(answer.status)) failures.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    };
    const end = Date.now() + MINUTES * 60_000;
    const samples: Sample[] = [];
    const start = Date.now();
    const timer = setInterval(() => {
      const memory = residentBytes(server.pid);
      if (memory === null) return;
      const files = readdirSync(`/proc/${server.pid}/fd`).length;
      samples.push({ minute: (Date.now() - start) / 60_000, megabytes: memory.now / MIB, files });
    }, 2000);
    await Promise.all([
      writer(call, wire, end),
      ...Array.from({ length: CLIENTS }, (_, client) => reader(call, wire, { end, client })),
    ]);
    clearInterval(timer);
    for (const [what, values] of latencies) {
      report(
        `${what}: ${values.length} calls, p50 ${median(values).toFixed(0)} ms, p95 ${percentile(values, 0.95).toFixed(0)} ms`,
      );
    }
    expect(failures).to.deep.equal([]);
    expectSteady(samples);
    expect(leftBehind(data.path, server.pid)).to.deep.equal(NOTHING);
    const errors = server
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    expect(errors).to.deep.equal([]);
  });

  /** The first quarter warms up: threads, caches, the page cache of SQLite. */
  function expectSteady(samples: readonly Sample[]): void {
    const steady = samples.slice(Math.floor(samples.length / 4));
    if (steady.length < 8) return;
    const growth = slope(steady.map(({ minute, megabytes }) => ({ x: minute, y: megabytes })));
    const half = Math.floor(steady.length / 2);
    const early = median(steady.slice(0, half).map(({ megabytes }) => megabytes));
    const late = median(steady.slice(half).map(({ megabytes }) => megabytes));
    const files = (part: readonly Sample[]) => median(part.map((sample) => sample.files));
    report(
      `memory: ${early.toFixed(0)} MiB in the first half, ${late.toFixed(0)} MiB in the second, ${growth.toFixed(2)} MiB a minute; open files ${files(steady.slice(0, half))}, then ${files(steady.slice(half))}`,
    );
    expect(late).to.be.below(early * 1.15 + 30);
    expect(files(steady.slice(half))).to.be.at.most(files(steady.slice(0, half)) + 10);
  }
});

type Call = (what: string, send: () => Promise<Answer>, allowed?: readonly number[]) => Promise<void>;

/** Fills datasets in turn and builds them; the oldest items and whole datasets go again. */
async function writer(call: Call, wire: Wire, end: number): Promise<void> {
  for (let number = 0; Date.now() < end; number += 1) {
    const dataset = `load-${Math.floor(number / ITEMS) % DATASETS}`;
    if (number % ITEMS === 0 && number >= ITEMS * DATASETS) {
      await call('forget dataset', () => wire.post('/forget', { dataset }));
    }
    await call('add', () => wire.upload(dataset, { name: `story-${number}.txt`, content: makeText(number, 40) }));
    if (number % 4 === 3) await call('cognify', () => wire.post('/cognify', { datasets: [dataset] }));
    if (number % 10 === 9) await forgetOne(call, wire, dataset);
    if (number % 7 === 6) {
      const form = new FormData();
      form.append('datasetName', dataset);
      form.append('data', new Blob([makeText(1_000_000 + number, 10)]), `note-${number}.md`);
      await call('remember', () => wire.form('/remember', form));
    }
  }
}

async function forgetOne(call: Call, wire: Wire, dataset: string): Promise<void> {
  const datasets: readonly { readonly id: string; readonly name: string }[] = (await wire.get('/datasets')).json;
  const id = datasets.find(({ name }) => name === dataset)?.id;
  const [newest] = (await wire.get(`/datasets/${id}/data?limit=1`)).json;
  await call('forget item', () => wire.remove(`/datasets/${id}/data/${newest.id}`));
}

const TYPES = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION', 'RAG_COMPLETION'];

/** Asks what the writer has built; a dataset that is gone or empty at the moment is no failure. */
async function reader(
  call: Call,
  wire: Wire,
  { end, client }: { readonly end: number; readonly client: number },
): Promise<void> {
  for (let turn = client; Date.now() < end; turn += 1) {
    const query = makeText(turn, 1);
    const type = TYPES[turn % TYPES.length] ?? 'CHUNKS';
    const datasets = [`load-${turn % DATASETS}`];
    if (turn % 29 === 0) await call('datasets', () => wire.get('/datasets'));
    else if (turn % 31 === 0) await call('recall', () => wire.post('/recall', { query, datasets }), [200, 404]);
    else if (turn % 37 === 0)
      await call('search all', () => wire.post('/search', { query, search_type: type }), [200, 404]);
    else await call(`search ${type}`, () => wire.post('/search', { query, search_type: type, datasets }), [200, 404]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
