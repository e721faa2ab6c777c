import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { hostileDocuments } from '../../services/common/text/documents/fixtures/hostile-documents.ts';
import { partOf } from '../support/extent.ts';
import { until } from '../support/until.ts';
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
    const hostile = hostileDocuments().filter(({ fileName }) => workerData.names.includes(fileName));
    const good = Array.from({ length: 5 }, (_, i) => ({
      fileName: 'good' + i + '.txt',
      content: () => Buffer.from('Grace Hopper wrote the compiler A-' + i + ' in Arlington.'),
      refusal: null,
    }));
    const outcomes = await Promise.all([...hostile, ...good].map(async ({ fileName, content, refusal }) => {
      const form = new FormData();
      form.append('datasetName', 'hostile');
      form.append('data', new Blob([content()]), fileName);
      const response = await fetch(workerData.url, { method: 'POST', body: form });
      return { fileName, status: response.status, text: await response.text(), refusal: refusal?.source ?? null };
    }));
    parentPort.postMessage(outcomes);
  })();
`;

const DOCUMENTS = new URL('../../services/common/text/documents/fixtures/hostile-documents.ts', import.meta.url).href;

/** For a container of 2 GiB: two readers of documents and one process for texts. */
export const SMALL_WORKERS = { ENGRAM_WORKER_MEMORY: '320MB', ENGRAM_DOCUMENT_WORKERS: '2' };
export const CONTAINER_BYTES = 2 * 1024 ** 3;

/** Uploads hostile documents beside good ones, all at once. Each is refused alone, with its reason, or taken. */
export async function uploadHostileDocuments(baseUrl: string): Promise<void> {
  const outcomes = await new Promise<readonly Outcome[]>((resolve, reject) => {
    const names = partOf(hostileDocuments(), 2).map(({ fileName }) => fileName);
    const workerData = { documents: DOCUMENTS, names, url: `${baseUrl}/api/v1/add` };
    new Worker(SENDER, { eval: true, workerData }).once('message', resolve).once('error', reject);
  });
  for (const { fileName, status, text, refusal } of outcomes) {
    expect(text, fileName).to.match(refusal === null ? /"status"/ : new RegExp(refusal));
    if (refusal === null) expect(status, fileName).to.equal(200);
    else expect(status, fileName).to.be.oneOf([413, 415, 422]);
  }
}

/** Builds what was taken of them, and finds the good ones. */
export async function findGoodDocuments(baseUrl: string): Promise<void> {
  const wire = createWire(baseUrl);
  const run = await wire.post('/cognify', { datasets: ['hostile'] });
  expect(run.status, run.text).to.equal(200);
  const question = { query: 'Who wrote the compiler A-3?', searchType: 'CHUNKS', datasets: ['hostile'] };
  const isFound = async () => (await wire.post('/search', question)).text.includes('A-3');
  await until('the good documents are found', isFound, { everyMs: 500, limitMs: 120_000 });
}
