import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import { syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../../services/common/records/integrations/sync-state.ts';
import { type Account, PASSWORD, signIn, signUp } from '../support/accounts.ts';
import { required } from '../support/auth-service.ts';
import { md5, type RemoteMemoryServer, startRemoteMemory } from '../support/remote-memory-server.ts';
import { giveGrant, takeGrant } from '../support/set-grant.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

describe('a dataset that two users sync at the same time', () => {
  let remote: RemoteMemoryServer;
  let world: TwoReplicas;
  let ada: Account;
  let grace: Account;
  let dataset: string;

  beforeEach(() => begin(0));

  /** `recheckMs`: how soon a sync learns that it may not any more. */
  async function begin(recheckMs: number): Promise<void> {
    remote = await startRemoteMemory();
    const auth = { posture: required };
    const sync = { recheckMs, leaseMs: 60_000 };
    world = await startTwoReplicas({ remoteUrl: remote.baseUrl, auth, password: PASSWORD, sync });
    [ada, grace] = [await signUp(world.one.baseUrl, 'ada'), await signUp(world.one.baseUrl, 'grace')];
    await ada.wire.upload('shared', { name: 'a.txt', content: 'a' });
    const [made] = (await ada.wire.get('/datasets')).json as readonly { readonly id: string }[];
    dataset = made?.id ?? '';
    const shared = { id: asId<DatasetId>(dataset), tenant: PERSONAL_TENANT };
    for (const permission of ['read', 'write'] as const) await giveGrant(world.store, shared, grace.id, permission);
  }

  const end = () => Promise.all([world[Symbol.asyncDispose](), remote[Symbol.asyncDispose]()]);
  afterEach(end);

  async function ended(run: string): Promise<unknown> {
    const read = async () => (await world.store.get(SYSTEM_SCOPE, syncRunsCollection, run))?.value;
    await until('the end of a sync', async () => ((await read())?.endedAt ?? null) !== null);
    return read();
  }

  const lines = () => remote.requests.map(({ line }) => line.replace(/[0-9a-f-]{32,36}/g, '*'));

  it('is built there once more for what one brings while the other has it built', async () => {
    const held = { prune: Promise.withResolvers<void>(), upload: Promise.withResolvers<void>() };
    const reached = { prune: Promise.withResolvers<void>(), upload: Promise.withResolvers<void>() };
    let uploads = 0;
    let prunes = 0;
    remote.intercept(async (line) => {
      const isUpload = line.startsWith('PUT') && line.includes('/data/');
      if (isUpload) uploads += 1;
      if (line.includes('prune=true')) prunes += 1;
      const at = isUpload && uploads === 2 ? 'upload' : line.includes('prune=true') && prunes === 1 ? 'prune' : null;
      if (at === null) return false;
      reached[at].resolve();
      await held[at].promise;
      return false;
    });
    const first = (await grace.wire.post('/sync', { datasetIds: [dataset] })).json.run_id;
    await reached.prune.promise;
    await ada.wire.upload('shared', { name: 'b.txt', content: 'b' });
    const second = (await ada.wire.post('/sync', { datasetIds: [dataset] })).json.run_id;
    await reached.upload.promise;
    held.prune.resolve();
    expect(await ended(first)).to.include({ status: 'completed' });
    held.upload.resolve();
    expect(await ended(second)).to.include({ status: 'completed', uploaded: 1 });
    expect([...remote.items(dataset).keys()]).to.have.members([md5('a'), md5('b')]);
    const [builds, brought] = [lines().lastIndexOf('POST /api/cognify'), lines().lastIndexOf('PUT /api/sync/*/data/*')];
    expect(builds, lines().join('\n')).to.be.greaterThan(brought);
  });

  it('sends no further file for one who may not any more, and goes on for the other', async () => {
    const names = ['b', 'c', 'd'];
    await ada.wire.upload('shared', ...names.map((name) => ({ name: `${name}.txt`, content: name })));
    const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    remote.intercept(async (line) => {
      if (!line.startsWith('PUT') || !line.includes('/data/')) return false;
      reached.resolve();
      await held.promise;
      return false;
    });
    const { run_id } = (await grace.wire.post('/sync', { datasetIds: [dataset] })).json;
    await reached.promise;
    const shared = { id: asId<DatasetId>(dataset), tenant: PERSONAL_TENANT };
    await takeGrant(world.store, shared, grace.id, 'write');
    held.resolve();
    expect(await ended(run_id)).to.include({ status: 'failed', uploaded: 1, retries: 0 });
    expect(remote.items(dataset).size).to.equal(1);
    expect((await grace.wire.post('/sync', { datasetIds: [dataset] })).status).to.equal(403);
    const next = (await ada.wire.post('/sync', {})).json.run_id;
    expect(await ended(next)).to.include({ status: 'completed', uploaded: 3 });
    expect(lines().at(-1)).to.equal('POST /api/cognify');
  });

  for (const recheckMs of [0, 3_600_000])
    it(`keeps nothing of a dataset that went with the user who synced it, found out after ${recheckMs} ms`, async () => {
      await end();
      await begin(recheckMs);
      const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      remote.intercept(async (line) => {
        if (!line.endsWith('/diff')) return false;
        reached.resolve();
        await held.promise;
        return false;
      });
      await ada.wire.post('/sync', {});
      await reached.promise;
      const superuser = await signIn(world.one.baseUrl, 'default_user@example.com');
      expect((await ada.wire.remove(`/datasets/${dataset}`)).status).to.equal(200);
      expect((await superuser.remove(`/users/${ada.id}`)).status).to.equal(204);
      held.resolve();
      await until('the end of the job', async () => (await world.store.count(SYSTEM_SCOPE, jobsCollection, {})) === 0);
      const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(dataset));
      expect(await world.store.countEach(scope, syncStateCollections)).to.deep.equal([0, 0, 0]);
    });
});
