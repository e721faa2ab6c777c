import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { type RemoteMemoryServer, startRemoteMemory } from '../support/remote-memory-server.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

describe('what is forgotten while a sync is under way', () => {
  let remote: RemoteMemoryServer;
  let world: TwoReplicas;
  let dataset: string;

  beforeEach(async () => {
    remote = await startRemoteMemory();
    world = await startTwoReplicas({ remoteUrl: remote.baseUrl });
    const files = ['both', 'sent', 'kept'].map((content) => ({ name: `${content}.txt`, content }));
    await world.one.wire.upload('notes', ...files);
    const [made] = (await world.one.wire.get('/datasets')).json as readonly { readonly id: string }[];
    dataset = made?.id ?? '';
    for (const content of ['both', 'fetched', 'wanted']) remote.put(dataset, `${content}.txt`, content);
  });
  afterEach(() => Promise.all([world[Symbol.asyncDispose](), remote[Symbol.asyncDispose]()]));

  const names = async () => {
    const { json } = await world.one.wire.get(`/datasets/${dataset}/data`);
    return (json as readonly { readonly name: string }[]).map(({ name }) => name);
  };
  async function forget(name: string): Promise<void> {
    const items = (await world.one.wire.get(`/datasets/${dataset}/data`)).json as readonly {
      id: string;
      name: string;
    }[];
    const id = items.find((item) => item.name === name)?.id;
    expect((await world.one.wire.remove(`/datasets/${dataset}/data/${id}`)).status, name).to.equal(200);
  }
  async function sync(): Promise<unknown> {
    const { json } = await world.one.wire.post('/sync', {});
    const read = async () => (await world.store.get(SYSTEM_SCOPE, syncRunsCollection, json.run_id))?.value;
    await until('the end of the sync', async () => ((await read())?.endedAt ?? null) !== null);
    return read();
  }

  it('does not come back by its next attempt, however far it had come, and goes there too', async () => {
    let downloads = 0;
    let forgetting: Promise<void> | null = null;
    const forgetAll = async (): Promise<void> => {
      for (const name of await names()) if (name !== 'kept') await forget(name);
    };
    remote.intercept(async (line, request, response) => {
      if (!line.startsWith('GET')) return false;
      downloads += 1;
      if (downloads !== 2) return false;
      forgetting = forgetAll();
      await forgetting;
      request.resume();
      response.writeHead(500).end();
      return true;
    });
    expect(await sync()).to.include({ status: 'completed', retries: 1, uploaded: 2, downloaded: 2 });
    expect(forgetting).to.not.equal(null);
    expect((await names()).toSorted()).to.deep.equal(['kept', 'wanted']);
    const there = [...remote.items(dataset).values()].map(({ content }) => content.toString());
    expect(there.toSorted()).to.deep.equal(['kept', 'wanted']);
  });

  it('goes there by the same sync, and what comes meanwhile stays there', async () => {
    let downloads = 0;
    remote.intercept(async (line) => {
      if (!line.startsWith('GET')) return false;
      downloads += 1;
      if (downloads !== 2) return false;
      await forget('both');
      await forget('fetched');
      // As another sync of the dataset brings it.
      await world.one.wire.upload('notes', { name: 'new.txt', content: 'new' });
      remote.put(dataset, 'new.txt', 'new');
      return false;
    });
    expect(await sync()).to.include({ status: 'completed', retries: 0 });
    const there = [...remote.items(dataset).values()].map(({ content }) => content.toString());
    expect(there.toSorted()).to.deep.equal(['kept', 'new', 'sent', 'wanted']);
    expect((await names()).toSorted()).to.deep.equal(['kept', 'new', 'sent', 'wanted']);
  });
});
