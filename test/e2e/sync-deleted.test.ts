import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { syncRunsCollection } from '../../services/common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../../services/common/records/integrations/sync-state.ts';
import { startRemoteMemory } from '../support/remote-memory-server.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

describe('a dataset that is deleted while a sync fills it', () => {
  it('goes, with all that came meanwhile', async () => {
    await using remote = await startRemoteMemory();
    await using world = await startTwoReplicas({ remoteUrl: remote.baseUrl });
    const { wire } = world.one;
    await wire.upload('notes', { name: 'here.txt', content: 'here' });
    const [made] = (await wire.get('/datasets')).json as readonly { readonly id: string }[];
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(made?.id ?? ''));
    for (let at = 0; at < 500; at += 1) remote.put(scope.dataset, `${at}.txt`, `file ${at}`);
    const { json } = await wire.post('/sync', {});
    const items = () => world.store.count(scope, dataItemsCollection, {});
    await until('some files', async () => (await items()) > 5);
    const { status } = await world.two.wire.remove(`/datasets/${scope.dataset}`);
    const read = async () => (await world.store.get(SYSTEM_SCOPE, syncRunsCollection, json.run_id))?.value;
    await until('the end of the sync', async () => ((await read())?.endedAt ?? null) !== null);
    expect(status).to.equal(200);
    expect(await items()).to.equal(0);
    expect((await world.blobs.list(scope, { limit: 9 })).items).to.deep.equal([]);
    expect(await world.store.countEach(scope, syncStateCollections)).to.deep.equal([0, 0]);
  });
});
