import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { missingBrowser, openBrowser, openPage } from '../../test/support/chromium.ts';
import { itWhenWhole } from '../../test/support/extent.ts';
import { listening } from '../../test/support/listening.ts';
import { type StartedApp, startApp } from '../../test/support/start-app.ts';
import {
  ApiError,
  createEngram,
  type Engram,
  InvalidRequest,
  NoAnswer,
  NotAuthenticated,
  NotFound,
  RateLimited,
  type RecallEvent,
  TimedOut,
  type UploadProgress,
} from './index.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns what a call throws. */
async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  );
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Stands before the server: the first requests get what `faults` says instead of an answer, the others pass. */
async function startFaulty(target: string, faults: readonly ('cut' | 'lost' | number)[]) {
  const left = [...faults];
  const seen: string[] = [];
  const server: Server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const fault = left.shift();
    if (fault === 'cut') return incoming.socket.destroy();
    if (typeof fault === 'number') {
      outgoing.writeHead(fault, { 'content-type': 'application/json', 'retry-after': '0' });
      return outgoing.end(JSON.stringify({ detail: 'Not now.' }));
    }
    const { method = 'GET', headers, url = '/' } = incoming;
    incoming.pipe(
      forward(new URL(url, target), { method, headers: { ...headers, host: new URL(target).host } }, (answer) => {
        // The request was carried out, and its answer does not arrive.
        if (fault === 'lost') return answer.resume().once('end', () => incoming.socket.destroy());
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        return answer.pipe(outgoing);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, stop: () => server.close() };
}

describe('the TypeScript client', () => {
  let app: StartedApp;
  let engram: Engram;

  before(async () => {
    app = await startApp();
    engram = createEngram({ baseUrl: `${app.baseUrl}/` });
    const file = new File(['Grace Hopper wrote the first compiler at Remington Rand.'], 'grace.txt');
    const added = await engram.add(['Ada Lovelace leads the Analytical project in London.', file], 'notes');
    expect(added.data_ingestion_info).to.have.length(2);
    const runs = await engram.cognify(['notes']);
    expect(Object.values(runs).map(({ status }) => status)).to.deep.equal(['PipelineRunCompleted']);
  });
  after(() => app.stop());

  it('adds, builds, searches and recalls', async () => {
    const [found] = await engram.search('Who leads the Analytical project?', { datasets: ['notes'] });
    expect(JSON.stringify(found)).to.include('Ada Lovelace');
    const recalled = await engram.recall('Who wrote the first compiler?', { datasets: ['notes'], topK: 3 });
    expect(recalled.map((item) => (item.source === 'graph' ? item.text : '')).join()).to.include('Grace Hopper');
  });

  it('reads every operation by its path, with parameters, lists in the query and null for nothing', async () => {
    const [dataset] = await engram.datasets();
    if (dataset === undefined) throw new Error('there is no dataset');
    const graph = await engram.get('/api/v1/datasets/{dataset_id}/graph', { path: { dataset_id: dataset.id } });
    expect(graph.nodes.map(({ label }) => label)).to.include('ada lovelace');
    const states = await engram.get('/api/v1/datasets/status', { query: { dataset: [dataset.id, dataset.id] } });
    expect(states).to.deep.equal({ [dataset.id]: 'DATASET_PROCESSING_COMPLETED' });
    const [item] = await all(engram.items(dataset.id));
    const path = { dataset_id: dataset.id, data_id: item?.id ?? '' };
    expect(await engram.get('/api/v1/datasets/{dataset_id}/data/{data_id}/raw', { path })).to.match(/Ada|Grace/);
    const made = await engram.post('/api/v1/datasets', { body: { name: 'short-lived' } });
    const gone = await engram.delete('/api/v1/datasets/{dataset_id}', { path: { dataset_id: made.id } });
    expect(gone).to.equal(null);
  });

  it('streams a recall, and ends it when the caller has enough', async () => {
    const events = await all(engram.recallStream('Who leads the Analytical project?', { datasets: ['notes'] }));
    expect(events[0]).to.deep.equal({ type: 'stage', stage: 'retrieving' });
    const last = events.at(-1) as Extract<RecallEvent, { type: 'final' }>;
    expect(last.type).to.equal('final');
    expect(JSON.stringify(last.results)).to.include('Ada Lovelace');
    for await (const event of engram.recallStream('Who?', { datasets: ['notes'] })) {
      expect(event.type).to.equal('stage');
      break;
    }
  });

  it('reads all pages, by offset and by cursor', async () => {
    const texts = Array.from({ length: 130 }, (_, number) => `Note number ${number}.`);
    const { dataset_id: id } = await engram.add(texts, 'many');
    const items = await all(engram.items(id));
    expect(new Set(items.map((item) => item.id)).size).to.equal(130);
    const path = { dataset_id: id };
    const some = await all(engram.pages('/api/v1/datasets/{dataset_id}/data', { path, query: { limit: 60 } }));
    expect(some.map((item) => item.id)).to.deep.equal(items.map((item) => item.id));
    for (const session_id of ['a', 'b', 'c']) {
      const entry = { type: 'qa', question: 'Who?', answer: 'Ada.' } as const;
      await engram.post('/api/v1/remember/entry', { body: { entry, session_id, dataset_name: 'notes' } });
    }
    const sessions = await all(engram.pages('/api/v1/sessions', { query: { limit: 1, range: 'all' } }));
    expect(sessions.map((session) => session.session_id)).to.include.members(['a', 'b', 'c']);
    const records = await all(engram.pages('/api/v1/audit', { query: { limit: 1 } }));
    expect(records.length).to.equal((await engram.get('/api/v1/audit', { query: { limit: 100 } })).records.length);
  });

  it('throws a class of error for each kind, which says what the server says', async () => {
    const missing = await thrownBy(engram.get('/api/v1/sessions/{session_id}', { path: { session_id: 'none' } }));
    expect(missing).to.be.instanceOf(NotFound).and.instanceOf(ApiError);
    expect(missing).to.include({ status: 404, detail: 'session not found', method: 'GET' });
    expect((missing as NotFound).requestId).to.be.a('string');
    const wrong = await thrownBy(engram.search('Who?', { datasetIds: ['none'] }));
    expect(wrong).to.be.instanceOf(InvalidRequest);
    expect((wrong as InvalidRequest).faults[0]).to.include({ field: 'body.datasetIds.0', type: 'uuid_parsing' });
    const unknown = await thrownBy(engram.recall('Who?', { datasets: ['no-such-dataset'] }));
    expect((unknown as NotFound).code).to.equal('DatasetNotFoundError');
    const key = createEngram({ baseUrl: app.baseUrl, apiKey: 'not-a-key' });
    expect(await thrownBy(key.datasets())).to.be.instanceOf(NotAuthenticated);
  });

  it('reports how much of an upload is sent', async () => {
    const seen: UploadProgress[] = [];
    const file = new File(['Ada leads the project. '.repeat(100_000)], 'large.txt');
    await engram.add(file, 'large', { onUploadProgress: (progress) => seen.push(progress) });
    expect(seen[0]?.sentBytes).to.equal(0);
    expect(seen.at(-1)?.sentBytes).to.equal(seen[0]?.totalBytes);
    expect(seen[0]?.totalBytes).to.be.within(file.size, file.size + 100);
    expect(seen.length).to.be.greaterThan(10);
    expect(seen.map(({ sentBytes }) => sentBytes)).to.deep.equal(
      seen.map(({ sentBytes }) => sentBytes).toSorted((a, b) => a - b),
    );
  });

  it('sends again what may be sent twice, and nothing else', async () => {
    const attempts = async (
      faults: readonly ('cut' | 'lost' | number)[],
      call: (client: Engram) => Promise<unknown>,
    ) => {
      const faulty = await startFaulty(app.baseUrl, faults);
      try {
        const error = await call(createEngram({ baseUrl: faulty.url, retries: 2 })).then(
          () => null,
          (thrown: unknown) => thrown,
        );
        return { error, count: faulty.seen.length };
      } finally {
        faulty.stop();
      }
    };
    expect(await attempts(['cut', 503], (client) => client.datasets())).to.deep.equal({ error: null, count: 3 });
    expect(await attempts(['cut'], (client) => client.add('Once.', 'notes'))).to.deep.equal({ error: null, count: 2 });
    const form = (client: Engram) =>
      client.add(new File(['Twice.'], 'twice.txt'), 'notes', { onUploadProgress: () => {} });
    expect(await attempts([502], form)).to.deep.equal({ error: null, count: 2 });
    const entry = { type: 'qa', question: 'Who?', answer: 'Ada.' } as const;
    const remember = (client: Engram) =>
      client.post('/api/v1/remember/entry', { body: { entry, dataset_name: 'notes', session_id: 'once' } });
    expect(await attempts(['cut', 409], remember)).to.deep.equal({ error: null, count: 3 });
    expect(await attempts(['lost'], remember)).to.deep.equal({ error: null, count: 2 });
    const session = await engram.get('/api/v1/sessions/{session_id}', { path: { session_id: 'once' } });
    expect(session.qas).to.have.length(2);
    const lost = await attempts(['cut'], (client) => client.post('/api/v1/auth/api-keys', { body: { name: 'k' } }));
    expect(lost.count).to.equal(1);
    expect(lost.error).to.be.instanceOf(NoAnswer);
    expect(await attempts([429], remember)).to.deep.equal({ error: null, count: 2 });
    const refused = await attempts([429, 429, 429], remember);
    expect(refused.count).to.equal(3);
    expect(refused.error).to.be.instanceOf(RateLimited);
  });

  it('gives up at its time limit and when the caller does', async () => {
    const silent = createServer(() => undefined);
    const baseUrl = await listening(silent);
    try {
      const client = createEngram({ baseUrl, timeoutMs: 100 });
      expect(await thrownBy(client.datasets())).to.be.instanceOf(TimedOut);
      const controller = new AbortController();
      const call = client.datasets({ signal: controller.signal, timeoutMs: 10_000 });
      controller.abort();
      expect(await thrownBy(call)).to.have.property('name', 'AbortError');
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  describe('as a package', () => {
    let folder: string;

    before(async function () {
      this.timeout(60_000);
      folder = await mkdtemp(join(tmpdir(), 'engram-client-'));
      await run(process.execPath, [join(ROOT, 'services/client/pack.ts'), join(folder, 'engram-client')]);
    });
    after(() => rm(folder, { recursive: true, force: true }));

    itWhenWhole('runs in Node and has types, installed from its archive', async function () {
      this.timeout(60_000);
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', '.', './engram-client'], {
        cwd: folder,
      });
      const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder });
      const use = `import { createEngram, type DatasetDTO, type RecallItem } from 'engram-client';
const engram = createEngram({ baseUrl: process.argv[2] ?? '' });
const datasets: readonly DatasetDTO[] = await engram.datasets();
const items: readonly RecallItem[] = await engram.recall('Who wrote the first compiler?', { datasets: ['notes'] });
console.log(datasets.length > 0 && JSON.stringify(items).includes('Grace Hopper'));
// @ts-expect-error: a path needs its parameters
const call = () => engram.get('/api/v1/datasets/{dataset_id}/graph');
// @ts-expect-error: there is no such path
const none = () => engram.get('/api/v1/nothing');
export { call, none };
`;
      await writeFile(join(folder, 'use.ts'), use);
      await symlink(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--types',
        'node',
      ];
      await run(process.execPath, [tsc, ...options, 'use.ts'], { cwd: folder });
      const ran = await run(process.execPath, ['use.ts', app.baseUrl], { cwd: folder });
      expect(ran.stdout.trim()).to.equal('true');
    });

    it('runs in a browser, with progress of uploads', async function () {
      this.timeout(60_000);
      const missing = missingBrowser();
      if (missing !== null) return this.skip();
      const module = await readFile(join(folder, 'engram-client/index.js'), 'utf8');
      const browser = await openBrowser();
      try {
        const { page, errors } = await openPage(browser, { bypassCSP: true });
        await page.goto(`${app.baseUrl}/health`);
        await page.addScriptTag({ type: 'module', content: `${module}\nwindow.createEngram = createEngram;` });
        await page.waitForFunction('window.createEngram !== undefined');
        const outcome = (await page.evaluate(`(async () => {
          const engram = createEngram({ baseUrl: location.origin });
          const progress = [];
          const file = new File(['Mary Shelley wrote Frankenstein in Geneva. '.repeat(5000)], 'mary.txt');
          const added = await engram.add(file, 'browser', { onUploadProgress: (one) => progress.push(one.sentBytes) });
          await engram.cognify('browser');
          const events = [];
          for await (const event of engram.recallStream('Who wrote Frankenstein?', { datasets: ['browser'] })) events.push(event);
          const error = await engram.get('/api/v1/sessions/{session_id}', { path: { session_id: 'x' } }).catch((thrown) => thrown.name);
          return { status: added.status, size: file.size, progress, answer: JSON.stringify(events.at(-1)), error };
        })()`)) as { status: string; size: number; progress: number[]; answer: string; error: string };
        expect(outcome.status).to.equal('PipelineRunCompleted');
        expect(outcome.progress.at(-1)).to.be.at.least(outcome.size);
        expect(outcome.answer).to.include('Mary Shelley');
        expect(outcome.error).to.equal('NotFound');
        expect(errors.filter((error) => !error.includes('404'))).to.deep.equal([]);
      } finally {
        await browser.close();
      }
    });
  });
});
