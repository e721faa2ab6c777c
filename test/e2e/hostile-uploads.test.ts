import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { threadCpuTimeMs } from '../support/cpu-time.ts';
import { watchTreeMemory } from '../support/process-tree.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

interface Outcome {
  readonly fileName: string;
  readonly status: number;
  readonly text: string;
  /** What its refusal must say; null: it is taken. */
  readonly refusal: string | null;
}

/** Makes and sends the documents in a thread of its own, all at once: what they cost there is not the server's. */
const SENDER = `
  const { parentPort, workerData } = require('node:worker_threads');
  (async () => {
    const { hostileDocuments } = await import(workerData.documents);
    const good = Array.from({ length: 5 }, (_, i) => ({
      fileName: 'good' + i + '.txt',
      content: Buffer.from('Grace Hopper wrote the compiler A-' + i + ' in Arlington.'),
      refusal: null,
    }));
    const outcomes = await Promise.all([...hostileDocuments(), ...good].map(async ({ fileName, content, refusal }) => {
      const form = new FormData();
      form.append('datasetName', 'hostile');
      form.append('data', new Blob([content]), fileName);
      const response = await fetch(workerData.url, { method: 'POST', body: form });
      return { fileName, status: response.status, text: await response.text(), refusal: refusal?.source ?? null };
    }));
    parentPort.postMessage(outcomes);
  })();
`;

const GIB = 1024 ** 3;

describe('a server that is sent hostile documents', () => {
  let app: StartedApp;
  before(async () => {
    // Two readers and one for texts: what a container of 2 GiB has room for.
    app = await startApp({ ENGRAM_WORKER_MEMORY: '320MB', ENGRAM_DOCUMENT_WORKERS: '2' });
  });
  after(() => app.stop());

  /** Milliseconds of processor time of this thread between two turns of the event loop, at most. */
  async function longestTurn(work: () => Promise<unknown>): Promise<number> {
    let longest = 0;
    let last = threadCpuTimeMs();
    const timer = setInterval(() => {
      const now = threadCpuTimeMs();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    await work();
    clearInterval(timer);
    return longest;
  }

  const send = () =>
    new Promise<Outcome[]>((resolve, reject) => {
      const documents = new URL('../../services/common/documents/fixtures/hostile-documents.ts', import.meta.url).href;
      const sender = new Worker(SENDER, { eval: true, workerData: { documents, url: `${app.baseUrl}/api/v1/add` } });
      sender.once('message', resolve).once('error', reject);
    });

  it('refuses each alone or takes it, without a pause for others and within 2 GiB of memory', async function () {
    this.timeout(240_000);
    const wire = createWire(app.baseUrl);
    // What is loaded with the first request is no matter of these.
    await wire.upload('hostile', { name: 'first.txt', content: 'Ada Lovelace lived in London.' });
    const memory = watchTreeMemory(process.pid);
    let outcomes: readonly Outcome[] = [];
    const turn = await longestTurn(async () => {
      outcomes = await send();
    });
    for (const { fileName, status, text, refusal } of outcomes) {
      expect(text, fileName).to.match(refusal === null ? /"status"/ : new RegExp(refusal));
      if (refusal === null) expect(status, fileName).to.equal(200);
      else expect(status, fileName).to.be.oneOf([413, 415, 422]);
    }
    expect(turn).to.be.lessThan(100);
    expect((await wire.post('/cognify', { datasets: ['hostile'] })).status).to.equal(200);
    const question = { query: 'Who wrote the compiler A-3?', searchType: 'CHUNKS', datasets: ['hostile'] };
    expect((await wire.post('/search', question)).text).to.include('A-3');
    expect(memory()).to.be.lessThan(2 * GIB);
  });
});
