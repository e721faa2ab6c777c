import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Account, signUp } from '../support/accounts.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

describe('a caller with write permission alone', () => {
  let app: StartedApp;
  let ada: Account;
  let writer: Account;
  let member: Account;
  let dataset: string;
  let item: string;

  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
    [ada, writer, member] = [
      await signUp(app.baseUrl, 'ada'),
      await signUp(app.baseUrl, 'writer'),
      await signUp(app.baseUrl, 'member'),
    ];
    const added = await ada.wire.post('/add', { data: 'The vault opens at nine.', datasetName: 'secrets' });
    dataset = added.json.dataset_id;
    item = added.json.data_ingestion_info[0].data_id;
    const granted = await ada.wire.post(`/permissions/datasets/${writer.id}?permission_name=write`, [dataset]);
    expect(granted.status).to.equal(200);
  });
  after(() => app.stop());

  it('sees its own items in what remember answers, and no others', async () => {
    const { status, json, text } = await writer.wire.post('/remember', {
      data: 'Lunch is at one.',
      datasetId: dataset,
    });
    expect(status).to.equal(200);
    expect(json.items).to.have.length(1);
    expect(json.items_processed).to.equal(1);
    expect(text).to.not.include(item);
    const again = await ada.wire.post('/remember', { data: 'Tea is at four.', datasetId: dataset });
    expect(again.json.items.map(({ id }: { id: string }) => id)).to.include(item);
  });

  it('is shown no items by cognify', async () => {
    const { json, text } = await writer.wire.post('/cognify', { dataset_ids: [dataset] });
    expect(json[dataset]).to.deep.include({ status: 'PipelineRunCompleted', data_ingestion_info: null });
    expect(text).to.not.include(item);
  });

  it('gets the same answer of update for an item as for an unknown id, and so does who has no grant', async () => {
    for (const { wire } of [writer, member]) {
      const [real, unknown] = await Promise.all(
        [item, randomUUID()].map((id) => wire.patch(`/update?data_id=${id}&dataset_id=${dataset}`, { data: 'x' })),
      );
      expect([unknown?.status, unknown?.text]).to.deep.equal([real?.status, real?.text]);
      expect(real?.status).to.equal(403);
      const nowhere = await wire.patch(`/update?data_id=${item}&dataset_id=${randomUUID()}`, { data: 'x' });
      expect(nowhere.status).to.equal(404);
    }
    const gone = await ada.wire.patch(`/update?data_id=${randomUUID()}&dataset_id=${dataset}`, { data: 'x' });
    expect(gone.status).to.equal(404);
  });
});
