import { expect } from 'chai';
import type { DatasetId } from '../../services/common/domain/brand.ts';
import { asId } from '../../services/common/domain/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../services/common/domain/scope.ts';
import { createSyncState, syncStateCollections } from '../../services/common/repositories/sync-state.ts';
import { md5 } from '../support/remote-memory-server.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';

describe('a dataset that is deleted', function () {
  this.timeout(60_000);

  it('leaves nothing of what was written down about it right before it went', async () => {
    await using world = await startTwoReplicas();
    const added = await world.one.wire.post('/add', { data: 'Ada met Charles.', datasetName: 'notes' });
    const scope = datasetScope(PERSONAL_TENANT, asId<DatasetId>(added.json.dataset_id));
    let late = 0;
    for (const { store } of [world.one, world.two]) {
      const { commit } = store;
      Object.assign(store, {
        async commit(...call: Parameters<typeof commit>) {
          if (call[1].some((write) => write.kind === 'remove' && write.collection.name === 'datasets')) {
            late += 1;
            await createSyncState(world.store).noteSynced(scope, [md5('Ada met Charles.')]);
          }
          return commit(...call);
        },
      });
    }
    expect((await world.one.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    expect(late).to.equal(1);
    expect(await world.store.countEach(scope, syncStateCollections)).to.deep.equal([0, 0]);
  });
});
