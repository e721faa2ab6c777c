import { expect } from 'chai';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { blobIntentsCollection } from '../../services/common/records/ingest/blob-intents.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { createSyncState, syncStateCollections } from '../../services/common/records/integrations/sync-state.ts';
import { beforeCommits, writes } from '../support/before-commits.ts';
import { md5 } from '../support/remote-memory-server.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';

describe('a dataset that is deleted', () => {
  it('leaves nothing of what was written down about it right before it went', async () => {
    await using world = await startTwoReplicas();
    const added = await world.one.wire.post('/add', { data: 'Ada met Charles.', datasetName: 'notes' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
    let late = 0;
    for (const { store } of [world.one, world.two]) {
      beforeCommits(store, async (all) => {
        if (!writes(all, 'remove', 'datasets')) return;
        late += 1;
        await createSyncState(world.store).noteSynced(scope, [md5('Ada met Charles.')]);
      });
    }
    expect((await world.one.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    // Once more when the audit log was written to meanwhile.
    expect(late).to.be.at.least(1);
    expect(await world.store.countEach(scope, syncStateCollections)).to.deep.equal([0, 0, 0]);
  });

  it('takes along what was being added to it, whenever that comes to its commit', async () => {
    await using world = await startTwoReplicas();
    const { one, two } = world;
    const added = await one.wire.post('/add', { data: 'Ada met Charles.', datasetName: 'notes' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforeCommits(one.store, async (all) => {
      if (!writes(all, 'insert', 'blob_intents')) return;
      reached.resolve();
      await opened.promise;
    });
    const adding = one.wire.post('/add', { data: 'Mary met Ada.', datasetId: scope.dataset });
    await reached.promise;
    expect((await two.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    opened.resolve();
    const { status, text } = await adding;
    expect(status, text).to.equal(409);
    expect(await world.store.countEach(scope, [dataItemsCollection, blobIntentsCollection])).to.deep.equal([0, 0]);
    expect(await world.blobs.list(scope, { limit: 9 })).to.deep.equal([]);
  });

  it('keeps no row that a cognify built while it went', async () => {
    await using world = await startTwoReplicas();
    const { one, two } = world;
    const added = await one.wire.post('/add', { data: 'Ada met Charles.', datasetName: 'notes' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
    let built: Promise<number> | null = null;
    for (const { store } of [one, two]) {
      beforeCommits(store, async (all) => {
        if (built !== null || !writes(all, 'remove', 'data_items')) return;
        built = one.wire.post('/cognify', { datasetIds: [scope.dataset] }).then(({ status }) => status);
        await built;
      });
    }
    expect((await two.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    expect(await built).to.equal(200);
    expect(await world.indexes.text.count(scope, {})).to.equal(0);
  });
});
