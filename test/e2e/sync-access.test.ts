import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../../services/common/records/integrations/sync-state.ts';
import { PASSWORD, signIn, signUp } from '../support/accounts.ts';
import { required } from '../support/auth-service.ts';
import { md5, type RemoteMemoryServer, startRemoteMemory } from '../support/remote-memory-server.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('sync acts for who asked for it, and', () => {
  let remote: RemoteMemoryServer;
  let world: TwoReplicas;
  let accounts = 0;

  before(async () => {
    remote = await startRemoteMemory();
    world = await startTwoReplicas({ remoteUrl: remote.baseUrl, auth: { posture: required }, password: PASSWORD });
  });
  beforeEach(() => remote.intercept(() => false));
  after(async () => {
    await world[Symbol.asyncDispose]();
    await remote[Symbol.asyncDispose]();
  });

  const newAccount = () => signUp(world.one.baseUrl, `sync-${++accounts}`);

  async function withKey(wire: Wire, limits: object): Promise<Wire> {
    const { status, json } = await wire.post('/auth/api-keys', limits);
    expect(status).to.equal(200);
    return createWire(world.one.baseUrl, { 'x-api-key': json.key });
  }

  async function dataset(wire: Wire, name: string): Promise<string> {
    await wire.upload(name, { name: `${name}.txt`, content: `content of ${name}` });
    const { json } = await wire.get('/datasets');
    return (json as { id: string; name: string }[]).find((one) => one.name === name)?.id ?? '';
  }

  async function runsOf(user: string) {
    const { items } = await world.store.find(SYSTEM_SCOPE, syncRunsCollection, { where: { userId: user }, limit: 10 });
    return items.map(({ value }) => value);
  }

  const untilEnded = (user: string) =>
    until('the end of the sync', async () => (await runsOf(user)).every(({ endedAt }) => endedAt !== null));

  /** Requests wait until it is called. */
  function hold(): () => void {
    const opened = Promise.withResolvers<void>();
    remote.intercept(async () => {
      await opened.promise;
      return false;
    });
    return opened.resolve;
  }

  it('through a limited key takes and shows its datasets alone', async () => {
    const { id, wire } = await newAccount();
    const open = await dataset(wire, 'open');
    const hidden = await dataset(wire, 'hidden');
    const limited = await withKey(wire, { datasets: [open] });
    const refused = await limited.post('/sync', { datasetIds: [open, hidden] });
    expect(refused.status).to.equal(403);
    const letGo = hold();
    const { status, json } = await limited.post('/sync', {});
    expect(status).to.equal(200);
    expect(json).to.deep.include({ dataset_ids: [open], dataset_names: ['open'] });
    letGo();
    await untilEnded(id);
    expect(remote.items(hidden).size).to.equal(0);
    expect([...remote.items(open).keys()]).to.deep.equal([md5('content of open')]);

    const letAllGo = hold();
    expect((await wire.post('/sync', {})).json.dataset_names).to.have.members(['open', 'hidden']);
    const { latest_running_sync: seen } = (await limited.get('/sync/status')).json;
    expect(seen).to.deep.include({ dataset_ids: [open], dataset_names: ['open'] });
    const busy = await limited.post('/sync', { datasetIds: [open] });
    expect(busy.status).to.equal(409);
    expect(busy.json.details).to.deep.include({ dataset_ids: [open], dataset_names: ['open'] });
    expect(busy.text + JSON.stringify(seen))
      .to.not.contain(hidden)
      .and.not.contain('hidden');
    letAllGo();
    await untilEnded(id);
  });

  it('through a key that may only read does nothing', async () => {
    const { id, wire } = await newAccount();
    const target = await dataset(wire, 'notes');
    const reading = await withKey(wire, { permissions: ['read'] });
    for (const body of [{}, { datasetIds: [target] }]) expect((await reading.post('/sync', body)).status).to.equal(403);
    expect(await runsOf(id)).to.be.empty;
    expect(remote.items(target).size).to.equal(0);
  });

  it('of others is not seen, and keeps nobody from an own one', async () => {
    const [ada, grace] = [await newAccount(), await newAccount()];
    await dataset(ada.wire, 'notes');
    await dataset(grace.wire, 'notes');
    const letGo = hold();
    expect((await ada.wire.post('/sync', {})).status).to.equal(200);
    expect((await grace.wire.get('/sync/status')).json).to.deep.equal({
      has_running_sync: false,
      running_sync_count: 0,
    });
    expect((await grace.wire.post('/sync', {})).status).to.equal(200);
    letGo();
    await Promise.all([untilEnded(ada.id), untilEnded(grace.id)]);
  });

  it('ends with a key that is deleted, after what is under way', async () => {
    const { id, wire } = await newAccount();
    const target = await dataset(wire, 'notes');
    const { json: key } = await wire.post('/auth/api-keys', {});
    let asked = 0;
    const letGo = Promise.withResolvers<void>();
    remote.intercept(async (_line, request, response) => {
      asked += 1;
      await letGo.promise;
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    expect((await createWire(world.one.baseUrl, { 'x-api-key': key.key }).post('/sync', {})).status).to.equal(200);
    await until('the first request', () => asked === 1);
    expect((await wire.remove(`/auth/api-keys/${key.id}`)).status).to.be.lessThan(300);
    letGo.resolve();
    await untilEnded(id);
    expect((await runsOf(id))[0]).to.include({ status: 'failed', retries: 1 });
    expect(asked).to.equal(1);
    expect(remote.items(target).size).to.equal(0);
  });

  it('goes with its user, and what it knows of a dataset with the dataset', async () => {
    const { id, wire } = await newAccount();
    const target = await dataset(wire, 'notes');
    await wire.post('/sync', {});
    await untilEnded(id);
    expect((await runsOf(id))[0]).to.include({ status: 'completed' });
    const kept = async () => {
      const [run] = await runsOf(id);
      const scope = { tenant: (run?.tenantId ?? 'personal') as never, dataset: target as never };
      return Promise.all(syncStateCollections.map((collection) => world.store.count(scope, collection, {})));
    };
    expect(await kept(), 'what was synced, and nothing to be built').to.deep.equal([1, 0, 0]);
    expect((await wire.remove(`/datasets/${target}`)).status).to.equal(200);
    expect(await kept()).to.deep.equal([0, 0, 0]);
    const superuser = await signIn(world.one.baseUrl, 'default_user@example.com');
    expect((await superuser.remove(`/users/${id}`)).status).to.equal(204);
    expect(await runsOf(id)).to.be.empty;
  });
});
