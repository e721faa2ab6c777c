import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { md5, REMOTE_KEY, startRemoteMemory } from '../support/remote-memory-server.ts';
import { until } from '../support/until.ts';
import { createWire } from '../support/wire.ts';

const FILES = Array.from({ length: 12 }, (_, index) => `Letter ${index} of Ada Lovelace to Charles Babbage.`);
const OTHERS = Array.from({ length: 12 }, (_, index) => `Letter ${index} of Mary Somerville to Ada Lovelace.`);

describeWhenWhole('sync under kill -9', function () {
  this.timeout(300_000);

  it('goes on by itself after each start, until both sides have everything once and build it', async () => {
    await using remote = await startRemoteMemory();
    const data = makeDataDir();
    const environment = { COGNEE_SERVICE_URL: `${remote.baseUrl}/`, COGNEE_API_KEY: REMOTE_KEY };
    const start = () => startProcess({ dataDir: data.path, environment });
    let server: EngramProcess = await start();
    try {
      const wire = () => createWire(server.baseUrl);
      await wire().upload('letters', ...FILES.map((content, index) => ({ name: `${index}.txt`, content })));
      const [dataset] = (await wire().get('/datasets')).json as readonly { readonly id: string }[];
      const id = dataset?.id ?? '';
      for (const content of OTHERS) remote.put(id, 'other.txt', content);
      // Killed at each of these moments, while the request is under way: what was answered before is done.
      const moments = [1, 5, 13, 16, 25].map((number) => ({ number, isReached: Promise.withResolvers<void>() }));
      let requests = 0;
      remote.intercept(() => {
        requests += 1;
        const moment = moments.find(({ number }) => number === requests);
        moment?.isReached.resolve();
        return moment !== undefined;
      });
      const started = await wire().post('/sync', { datasetIds: [id] });
      expect(started.status, started.text).to.equal(200);
      for (const { isReached } of moments) {
        await isReached.promise;
        await server.kill();
        server = await start();
      }
      const isRunning = async () => (await wire().get('/sync/status')).json.has_running_sync as boolean;
      await until('the sync has ended', async () => !(await isRunning()), { everyMs: 50 });
      expect([...remote.items(id).keys()]).to.have.members([...FILES, ...OTHERS].map(md5));
      const items = (await wire().get(`/datasets/${id}/data`)).json as readonly { readonly id: string }[];
      const texts = await Promise.all(
        items.map(async (item) => (await wire().get(`/datasets/${id}/data/${item.id}/raw`)).text),
      );
      expect(texts.toSorted()).to.deep.equal([...FILES, ...OTHERS].toSorted());
      const lines = remote.requests.map(({ line }) => line);
      expect(lines.filter((line) => line === 'POST /api/cognify')).to.have.length(1);
      const uploads = lines.filter((line) => line.startsWith('PUT') && line.includes('/data/'));
      expect(new Set(uploads).size, 'nothing is sent twice').to.equal(uploads.length);
      const isBuilt = async () => {
        const { json } = await wire().get(`/datasets/status?dataset=${id}&pipeline=cognify_pipeline`);
        return json[id] === 'DATASET_PROCESSING_COMPLETED';
      };
      await until('the dataset is built', isBuilt, { everyMs: 50 });
    } finally {
      await server.stop();
      data.remove();
    }
  });
});
