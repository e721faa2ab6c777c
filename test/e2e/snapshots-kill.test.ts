import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope } from '../../services/common/kernel/scope.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import { ledgerCollection } from '../../services/common/records/cognify/ledger.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import type { AnyCollection } from '../../services/common/storage/ports/document-store.ts';
import { SNAPSHOT_SCOPE } from '../../services/common/storage/snapshots/manifest.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { startManagedApp } from '../support/managed-app.ts';
import { type Prepared, runPhase } from '../support/snapshot-process.ts';

const PROCESS = fileURLToPath(new URL('../support/snapshot-process.ts', import.meta.url));

describeWhenWhole('snapshots under kill -9', function () {
  this.timeout(300_000);
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'engram-snapshots-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  const end = (phase: string, prepared: string) => runPhase(phase, prepared, dataDir);
  /** Kills a process of its own at its `killAt`-th write. */
  const kill = async (phase: string, prepared: string, killAt: number): Promise<void> => {
    const child = spawn(process.execPath, [PROCESS, phase, prepared], {
      env: { ...process.env, ENGRAM_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let writes = Number.NEGATIVE_INFINITY;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'begun') writes = 0;
      else if (line === 'write') writes += 1;
      if (writes === killAt) child.kill('SIGKILL');
    }
    if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
    expect(child.signalCode, `${phase}, ${writes} writes`).to.equal('SIGKILL');
  };

  it('are begun anew, and leave nothing: neither parts of a snapshot nor half a dataset', async () => {
    const prepared = await end('prepare', '{}');
    const { tenantId, datasetId } = JSON.parse(prepared) as Prepared;
    await kill('take', prepared, 4);
    expect(await end('take', prepared)).to.match(/^\{.*"items":60/);
    for (const killAt of [3, 9]) await kill('restore', prepared, killAt);
    const clone = await end('restore', prepared);
    const app = await startManagedApp({ ENGRAM_DATA_DIR: dataDir });
    try {
      const { documents, blobs, indexes } = app.stores;
      const items = await blobs.list(SNAPSHOT_SCOPE, { prefix: `${tenantId}/one/`, limit: 100 });
      const stored = await blobs.get(SNAPSHOT_SCOPE, `${tenantId}/one/manifest.json`);
      const text = stored === null ? '{}' : Buffer.concat(await stored.toArray()).toString();
      const { parts } = JSON.parse(JSON.parse(text).manifest) as { parts: { name: string }[] };
      const names = ['manifest.json', ...parts.map(({ name }) => name)].map((name) => `${tenantId}/one/${name}`);
      expect(items.map(({ key }) => key).sort()).to.deep.equal(names.sort());
      // Of the clone there is one, and of no other attempt anything.
      const ofItems: readonly AnyCollection[] = [dataItemsCollection, ledgerCollection];
      for (const collection of ofItems) {
        const found = await findAll(documents, { tenant: tenantId }, collection);
        expect([...new Set(found.map(({ dataset }) => dataset))].sort()).to.deep.equal([datasetId, clone].sort());
        expect(found).to.have.length(120);
      }
      const [original, restored] = [datasetId, asId<typeof datasetId>(clone)].map((id) => datasetScope(tenantId, id));
      if (original === undefined || restored === undefined) throw new Error('no scopes');
      expect(await indexes.graph.count(restored)).to.deep.equal(await indexes.graph.count(original));
      expect(await indexes.text.count(restored, {})).to.equal(await indexes.text.count(original, {}));
      expect(await indexes.vectors.count(restored, {})).to.equal(await indexes.vectors.count(original, {}));
    } finally {
      await app.stop();
    }
  });

  it('are taken of a whole tenant before anything of it is erased, and named by its receipt', async () => {
    const prepared = await end('prepare', '{}');
    const { tenantId, datasetId } = JSON.parse(prepared) as Prepared;
    const scope = { tenant: tenantId };
    const whole = { manifests: 0, records: 60, blobs: 120 };
    /** What is there between two lives. */
    const look = async (): Promise<typeof whole> => {
      const app = await startManagedApp({ ENGRAM_DATA_DIR: dataDir });
      try {
        const { documents, blobs } = app.stores;
        const items = await blobs.list(SNAPSHOT_SCOPE, { prefix: `${tenantId}/`, limit: 1000 });
        const manifests = items.filter(({ key }) => key.endsWith('manifest.json')).length;
        const records = await documents.count(scope, dataItemsCollection, {});
        return {
          manifests,
          records,
          blobs: (await blobs.list(datasetScope(tenantId, datasetId), { limit: 1000 })).length,
        };
      } finally {
        await app.stop();
      }
    };
    // In the middle of the first snapshot, and of the second or after it.
    for (const killAt of [4, 12]) {
      await kill('erase', prepared, killAt);
      const left = await look();
      if (left.manifests < 2) expect(left).to.deep.equal({ ...whole, manifests: left.manifests });
    }
    const receipt = JSON.parse(await end('erase', prepared)) as { kept: string[] };
    const named = receipt.kept.filter((what) => what.startsWith('snapshot '));
    expect(named.map((what) => what.split(/[ -]/)[1])).to.deep.equal(['empty', 'facts']);
    expect(await look()).to.deep.equal({ manifests: 2, records: 0, blobs: 0 });
  });
});
