import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFileBlobStore } from '../../services/common/storage/blobs/files/blob-store.ts';
import { openSqliteDocumentStore } from '../../services/common/storage/documents/sqlite/document-store.ts';
import type { ChangePage, Connector } from '../../services/integrations/providers/connector.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

/**
 * Imports a source of many small documents with two workers on SQLite and files, without building, and measures memory and
 * rate: `node test/bench/backfill.ts [documents] [bytes] [audiences]`, default 100,000 of 100 bytes, which everybody sees. The source is
 * listed whole, so that the second import looks at every document again.
 */
const DOCUMENTS = Number(process.argv[2] ?? 100_000);
const BYTES = Number(process.argv[3] ?? 100);
/** Sets of people that see documents at the source; 0: it has no permissions. */
const AUDIENCES = Number(process.argv[4] ?? 0);
const PAGE = 100;
const STEPS = 10;

export interface BackfillFigures {
  readonly documents: number;
  readonly stored: number;
  readonly perSecond: number;
  /** Of the import itself, per document. */
  readonly cpuMs: number;
  /** Memory after each tenth: of the process, and what is left in it after a collection. */
  readonly steps: readonly { readonly done: number; readonly residentMb: number; readonly keptMb: number }[];
  readonly peakMb: number;
  readonly again: { readonly seconds: number; readonly keptMb: number };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const mb = (bytes: number) => Math.round(bytes / 10_000) / 100;

function memory() {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { residentMb: mb(rss), keptMb: mb(heapUsed + external) };
}

const steps: { done: number; residentMb: number; keptMb: number }[] = [];
let fetched = 0;

const source: Connector = {
  provider: 'folder',
  capabilities: { title: 'Made', feeds: ['all'], selection: 'none', accounts: 'of each user', everyMs: 86_400_000 },
  datasetName: () => 'made',
  connect: async () => ({ accountId: 'made', label: 'made', authType: 'none', scopes: [], metadata: {} }),
  list: async () => [{ id: 'one', name: 'one', description: null, attributes: {} }],
  async *changesSince() {
    for (let at = 0; at < DOCUMENTS; at += PAGE) {
      const keys = Array.from({ length: Math.min(PAGE, DOCUMENTS - at) }, (_, index) => `document-${at + index}`);
      const isLast = at + PAGE >= DOCUMENTS;
      const page: ChangePage = { present: keys.map((key) => ({ key, version: '1' })), gone: [], cursor: null };
      yield isLast ? { ...page, total: DOCUMENTS, isWhole: true } : { ...page, total: DOCUMENTS };
    }
  },
  async fetch(_access, { key }) {
    fetched += 1;
    if (fetched % Math.ceil(DOCUMENTS / STEPS) === 0) steps.push({ done: fetched, ...memory() });
    const sentence = `${key}: the part of this number was checked by Ada, and it turns as it should. `;
    const content = Buffer.from(sentence.repeat(Math.ceil(BYTES / sentence.length)));
    return { fileName: `${key}.txt`, mimeType: 'text/plain', content, version: '1', uri: null };
  },
  ...(AUDIENCES === 0
    ? {}
    : {
        permissionsOf: async (_access, _feed, keys) =>
          keys.map((key) => {
            const of = Number(key.slice('document-'.length)) % AUDIENCES;
            const members = [`ada-${of}@acme.test`, `tom-${of}@acme.test`];
            return { addresses: [`nora-${of}@acme.test`], groups: [{ id: `group-${of}`, members }], domains: [] };
          }),
      }),
};

const directory = await mkdtemp(join(tmpdir(), 'engram-backfill-'));
const store = await openSqliteDocumentStore({ file: join(directory, 'control.db'), autoMigrate: true });
const blobs = await createFileBlobStore({ directory: join(directory, 'blobs') });
let peak = 0;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 200).unref();
try {
  await using world = await startTwoReplicas({ stores: { store, blobs }, builds: false, connectors: [source] });
  const { wire } = world.one;
  const ended = (after: string | null) =>
    until(
      'the end of the import',
      async () => {
        const { json } = await wire.get('/integrations/folder/connection');
        if (json.syncStatus === 'degraded') throw new Error(json.error ?? JSON.stringify(json));
        return json.syncStatus === 'ok' && json.lastSyncedAt !== after ? json : null;
      },
      { everyMs: 200, limitMs: 6 * 3_600_000 },
    );
  const timed = async (after: string | null) => {
    const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
    const state = await ended(after);
    const used = process.cpuUsage(cpu);
    return { state, seconds: (performance.now() - startedMs) / 1000, cpuMs: (used.user + used.system) / 1000 };
  };
  const connected = await wire.post('/integrations/folder/connect', { address: 'made' });
  if (connected.status !== 200) throw new Error(connected.text);
  const first = await timed(null);
  await wire.post('/integrations/folder/sync');
  const again = await timed(first.state.lastSyncedAt);
  const afterAgain = memory();
  const figures: BackfillFigures = {
    documents: DOCUMENTS,
    stored: first.state.storedItems,
    perSecond: Math.round(DOCUMENTS / first.seconds),
    cpuMs: Math.round((first.cpuMs / DOCUMENTS) * 100) / 100,
    steps,
    peakMb: mb(peak),
    again: { seconds: Math.round(again.seconds * 10) / 10, keptMb: afterAgain.keptMb },
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
} finally {
  clearInterval(watch);
  await store.close();
  await rm(directory, { recursive: true, force: true });
}
