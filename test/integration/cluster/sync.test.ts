import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { md5, REMOTE_KEY, type RemoteMemoryServer, startRemoteMemory } from '../../support/remote-memory-server.ts';
import { createWire, type Wire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

const OPEN = { REQUIRE_AUTHENTICATION: 'false', ENABLE_BACKEND_ACCESS_CONTROL: 'false' };
const HERE = ['Ada met Charles.', 'Ada wrote notes.', 'Ada lived in London.'];
const THERE = ['Mary met Ada.', 'Mary taught Ada.', 'Mary lived in Edinburgh.'];

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('sync of a cluster with two replicas', function () {
    this.timeout(240_000);
    let remote: RemoteMemoryServer;
    let cluster: ClusterProcess;
    let wire: Wire;

    before(async () => {
      remote = await startRemoteMemory();
      const there = { COGNEE_SERVICE_URL: remote.baseUrl, COGNEE_API_KEY: REMOTE_KEY };
      cluster = await startCluster({ ...OPEN, ...there }, { replicas: 2 });
      wire = createWire(cluster.baseUrl);
    });
    after(async () => {
      await cluster?.stop();
      await remote?.[Symbol.asyncDispose]();
    });

    it('is one for all processes, goes on when they are killed, and doubles nothing', async () => {
      await wire.upload('letters', ...HERE.map((content, index) => ({ name: `${index}.txt`, content })));
      const [dataset] = (await wire.get('/datasets')).json as readonly { readonly id: string }[];
      const id = dataset?.id ?? '';
      for (const content of THERE) remote.put(id, 'mary.txt', content);
      const isReached = Promise.withResolvers<void>();
      let requests = 0;
      // Neither the first nor the last of its requests.
      remote.intercept(() => {
        requests += 1;
        if (requests !== 3) return false;
        isReached.resolve();
        return true;
      });
      const { status, json } = await wire.post('/sync', { datasetIds: [id] });
      expect(status, JSON.stringify(json)).to.equal(200);
      const again = await wire.post('/sync', {});
      expect(again.status).to.equal(409);
      expect(again.json.details).to.include({ run_id: json.run_id, status: 'already_running' });
      await isReached.promise;
      // Which of the two has it is not to be seen from here; both are started again.
      for (const pid of cluster.pidsOf('integrations')) process.kill(pid, 'SIGKILL');
      while ((await statusOf(wire)) !== false) await sleep(100);
      expect([...remote.items(id).keys()]).to.have.members([...HERE, ...THERE].map(md5));
      const items = (await wire.get(`/datasets/${id}/data`)).json as readonly { readonly id: string }[];
      const texts = await Promise.all(
        items.map(async (item) => (await wire.get(`/datasets/${id}/data/${item.id}/raw`)).text),
      );
      expect(texts.toSorted()).to.deep.equal([...HERE, ...THERE].toSorted());
      expect(remote.requests.filter(({ line }) => line === 'POST /api/cognify')).to.have.length(1);
    });
  });
});

/** Undefined while no process can say. */
async function statusOf(wire: Wire): Promise<boolean | undefined> {
  const { status, json } = await wire.get('/sync/status').catch(() => ({ status: 0, json: undefined }));
  return status === 200 ? json.has_running_sync : undefined;
}
