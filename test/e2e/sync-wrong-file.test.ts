import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { startRemoteMemory } from '../support/remote-memory-server.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

describe('a file that the remote memory sends wrongly at every attempt', () => {
  it('is passed over and stays there; the others are synced', async () => {
    await using remote = await startRemoteMemory();
    await using world = await startTwoReplicas({ remoteUrl: remote.baseUrl });
    const { wire } = world.one;
    await wire.upload('notes', { name: 'here.txt', content: 'here' });
    const [made] = (await wire.get('/datasets')).json as readonly { readonly id: string }[];
    const dataset = made?.id ?? '';
    const wrong = remote.put(dataset, 'wrong.txt', 'wrong');
    const right = remote.put(dataset, 'right.txt', 'right');
    remote.intercept((line, _request, response) => {
      if (!line.startsWith('GET') || !line.includes(wrong)) return false;
      response.end('some other one');
      return true;
    });
    const { json } = await wire.post('/sync', {});
    const read = async () => (await world.store.get(SYSTEM_SCOPE, syncRunsCollection, json.run_id))?.value;
    await until('the end of the sync', async () => ((await read())?.endedAt ?? null) !== null);
    expect(await read()).to.include({ status: 'completed', retries: 3, uploaded: 1, downloaded: 1, passedOver: 1 });
    expect([...remote.items(dataset).keys()]).to.include.members([wrong, right]);
    const items = (await wire.get(`/datasets/${dataset}/data`)).json as readonly { readonly name: string }[];
    expect(items.map(({ name }) => name).toSorted()).to.deep.equal(['here', 'right']);
  });
});
