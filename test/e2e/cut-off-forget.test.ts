import { expect } from 'chai';
import { beforeCommits, writes } from '../support/before-commits.ts';
import { startTwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';
import type { Answer } from '../support/wire.ts';

const TEXT = 'Ada met Charles in Turin.';

describe('a forget that was cut off', () => {
  it('takes nothing along that is added again', async () => {
    await using world = await startTwoReplicas();
    const { one } = world;
    const add = () => one.wire.post('/add', { data: TEXT, datasetName: 'notes' });
    const added = await add();
    expect((await one.wire.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
    const revive = beforeCommits(one.store, (all) => {
      if (writes(all, 'remove', 'data_items')) throw new Error('killed');
    });
    const [itemId] = idsOf(added);
    const datasetId = added.json.dataset_id;
    const forgotten = await one.wire.post('/forget', { datasetId, dataId: itemId });
    expect(forgotten.status).to.equal(500);
    revive();

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

  it('because its store failed is ended soon after that works again, long before its lease ends', async () => {
    await using world = await startTwoReplicas({ ingestPollMs: 50 });
    const { one, two } = world;
    const added = await one.wire.post('/add', { data: TEXT, datasetName: 'notes' });
    let begun = false;
    const repair = beforeCommits(one.store, (all) => {
      if (begun) throw new Error('disk full');
      begun = all.some((write) => write.collection.name === 'jobs');
    });
    const forgotten = await one.wire.remove(`/datasets/${added.json.dataset_id}`);
    expect(forgotten.status).to.equal(500);
    expect((await two.wire.get('/datasets')).json).to.have.length(1);
    repair();
    await until('it is ended', async () => (await two.wire.get('/datasets')).json.length === 0);
  });
});

function idsOf({ json }: Answer): readonly string[] {
  return json.data_ingestion_info.map(({ data_id: id }: { data_id: string }) => id);
}
