import { expect } from 'chai';
import type { DatasetId } from '../../services/common/domain/brand.ts';
import { asId } from '../../services/common/domain/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/domain/scope.ts';
import { createBlobIntents } from '../../services/common/repositories/blob-intents.ts';
import { sweepBlobs } from '../../services/ingest/usecases/sweep-blobs.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';
import type { Answer } from '../support/wire.ts';

const TEXT = 'Ada met Charles in Turin.';

describe('a forget that was cut off', function () {
  this.timeout(60_000);

  it('takes nothing along that is added again', async () => {
    await using world = await startTwoReplicas();
    const { one } = world;
    const add = () => one.wire.post('/add', { data: TEXT, datasetName: 'notes' });
    const added = await add();
    expect((await one.wire.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
    const { commit } = one.store;
    Object.assign(one.store, {
      async commit(...call: Parameters<typeof commit>) {
        if (call[1].some((write) => write.kind === 'remove' && write.collection.name === 'data_items')) {
          throw new Error('killed');
        }
        return commit(...call);
      },
    });
    const [itemId] = idsOf(added);
    const datasetId = added.json.dataset_id;
    const forgotten = await one.wire.post('/forget', { datasetId, dataId: itemId });
    expect(forgotten.status).to.equal(500);
    Object.assign(one.store, { commit });

    const again = await add();
    expect(again.status, again.text).to.equal(200);
    expect(again.json.data_ingestion_info[0].run_info.status).to.equal('PipelineRunCompleted');
    expect(idsOf(again)).not.to.deep.equal([itemId]);
    expect((await one.wire.get(`/datasets/${datasetId}/data`)).json).to.have.length(1);
    expect((await one.wire.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
    const query = { query: 'Turin', searchType: 'CHUNKS_LEXICAL', datasets: ['notes'] };
    const [{ search_result: found }] = (await one.wire.post('/search', query)).json;
    expect(found.map(({ text }: { text: string }) => text)).to.deep.equal([TEXT]);
  });

  it('leaves no content for ever', async () => {
    await using world = await startTwoReplicas();
    const { one, blobs, store } = world;
    const added = await one.wire.post('/add', { data: TEXT, datasetName: 'notes' });
    const [dataId] = idsOf(added);
    const datasetId = asId<DatasetId>(added.json.dataset_id);
    const scope = datasetScope(PERSONAL_TENANT, datasetId);
    const { removeAll } = blobs;
    Object.assign(blobs, { removeAll: () => Promise.reject(new Error('killed')) });
    expect((await one.wire.post('/forget', { datasetId, dataId })).status).to.equal(500);
    Object.assign(blobs, { removeAll });
    expect((await blobs.list(scope, { limit: 9 })).items).not.to.deep.equal([]);
    const clock = { now: () => new Date(Date.now() + 2 * 3_600_000) };
    const parts = { intents: createBlobIntents(store), blobs, clock } as Parameters<typeof sweepBlobs>[0];
    expect(await sweepBlobs(parts, SYSTEM_SCOPE)).to.equal(1);
    expect((await blobs.list(scope, { limit: 9 })).items).to.deep.equal([]);
  });
});

function idsOf({ json }: Answer): readonly string[] {
  return json.data_ingestion_info.map(({ data_id: id }: { data_id: string }) => id);
}
