import { expect } from 'chai';
import { DATASET_SNAPSHOT_SETTINGS, datasetSnapshotCases } from '../behaviour/dataset-snapshots.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';

describe('snapshots over HTTP, embedded', () => {
  datasetSnapshotCases(() => startManagedApp(DATASET_SNAPSHOT_SETTINGS));
});

describe('a restore that its quota has no room for', () => {
  let app: ManagedApp;
  after(() => app?.stop());

  it('ends with the reason before any content is written', async () => {
    const written: string[] = [];
    app = await startManagedApp(
      { REQUIRE_AUTHENTICATION: 'false', ENABLE_BACKEND_ACCESS_CONTROL: 'false', ENGRAM_BUDGET_STORAGE_BYTES: '40' },
      (stores) => ({
        ...stores,
        blobs: {
          ...stores.blobs,
          put(scope, key, ...rest) {
            if ('dataset' in scope && key.startsWith('items/')) written.push(key);
            return stores.blobs.put(scope, key, ...rest);
          },
        },
      }),
    );
    const send = (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const json = body === undefined ? {} : { headers, body: JSON.stringify(body) };
      return fetch(`${app.baseUrl}/api/v1${path}`, { method, ...json });
    };
    const api = async (...call: Parameters<typeof send>) => {
      const answer = await send(...call);
      expect(answer.status, call[1]).to.be.oneOf([200, 202]);
      // biome-ignore lint/suspicious/noExplicitAny: answers are looked at, not typed
      return (await answer.json()) as any;
    };
    const { id } = await api('POST', '/datasets', { name: 'notes' });
    await api('POST', '/add', { datasetId: id, data: 'a text of thirty characters or so' });
    const snapshots = `/datasets/${id}/snapshots`;
    const taken = await api('POST', snapshots, { name: 'full' });
    await until('it is taken', async () => (await api('GET', `${snapshots}/${taken.id}`)).status === 'complete');
    const before = written.length;
    for (const name of ['two words', 'a.b', '']) {
      const misnamed = await send('POST', `${snapshots}/${taken.id}/restore`, { name });
      expect([misnamed.status, await misnamed.text()], name).to.deep.include(400);
    }
    expect(before).to.be.greaterThan(0);
    const refused = await send('POST', `${snapshots}/${taken.id}/restore`, { name: 'again' });
    expect(refused.status).to.equal(413);
    expect(await refused.text()).to.include('storageBytes');
    expect(written).to.have.length(before);
  });
});
