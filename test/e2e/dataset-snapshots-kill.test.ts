import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';

const PROCESS = fileURLToPath(new URL('../support/own-snapshot-process.ts', import.meta.url));
const TEXTS = Array.from(
  { length: 30 },
  (_, at) => `Fact ${at}: Ada Lovelace met Charles Babbage in London ${at} times.`,
);

describeWhenWhole('snapshots over HTTP under kill -9', () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'engram-own-snapshots-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  /** Kills the process at the so manieth write after it has begun. */
  const kill = async (path: string, body: object, killAt: number): Promise<void> => {
    const child = spawn(process.execPath, [PROCESS, path, JSON.stringify(body)], {
      env: { ...process.env, ENGRAM_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let writes = Number.NaN;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'begun') writes = 0;
      if (line === 'write') writes += 1;
      if (writes === killAt) child.kill('SIGKILL');
      expect(line, 'it came to its end').not.to.match(/^end /);
    }
  };
  const withApp = async <T>(work: (app: ManagedApp, get: (path: string) => Promise<unknown>) => Promise<T>) => {
    const app = await startManagedApp({ ENGRAM_DATA_DIR: dataDir, REQUIRE_AUTHENTICATION: 'false' });
    try {
      return await work(app, async (path) => (await fetch(`${app.baseUrl}/api/v1${path}`)).json());
    } finally {
      await app.stop();
    }
  };

  it('go on by themselves, are taken once however often they are asked for, and nobody sees half a dataset', async () => {
    const dataset = await withApp(async ({ baseUrl }, get) => {
      for (const [path, body] of [
        ['add', { datasetName: 'facts', data: TEXTS }],
        ['cognify', { datasets: ['facts'] }],
      ] as const) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${baseUrl}/api/v1/${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        expect(answer.status).to.equal(200);
      }
      return ((await get('/datasets')) as [{ id: string }])[0].id;
    });
    const path = `/datasets/${dataset}/snapshots`;
    await kill(path, {}, 4);
    const snapshot = await withApp(async ({ baseUrl }, get) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': path };
      await until('the repeated request is answered', async () => {
        const again = await fetch(`${baseUrl}/api/v1${path}`, { method: 'POST', headers, body: '{}' });
        expect(again.status, await again.text()).to.be.oneOf([200, 202, 409]);
        return again.status !== 409;
      });
      await until('the snapshot is complete', async () => {
        const { snapshots } = (await get(path)) as { snapshots: { status: string; items: number }[] };
        expect(snapshots).to.have.length(1);
        return snapshots[0]?.status === 'complete' && snapshots[0].items === TEXTS.length;
      });
      return ((await get(path)) as { snapshots: [{ id: string }] }).snapshots[0].id;
    });
    await kill(`${path}/${snapshot}/restore`, { name: 'then' }, 8);
    await withApp(async ({ stores }, get) => {
      await until('the dataset is there', async () => {
        const datasets = (await get('/datasets')) as { id: string; name: string }[];
        const restored = datasets.find(({ name }) => name === 'then');
        if (restored === undefined) return false;
        expect(await get(`/datasets/${restored.id}/data/count`)).to.deep.equal({ count: TEXTS.length });
        return true;
      });
      // Of no attempt before is anything left.
      const items = await findAll(stores.documents, { tenant: PERSONAL_TENANT }, dataItemsCollection);
      expect(items).to.have.length(2 * TEXTS.length);
    });
  });
});
