import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from(Array.from({ length: 64 }, (_, at) => at * 3)),
]);

function upload(files: readonly (readonly [name: string, content: string | Uint8Array])[], fields: object): FormData {
  const form = new FormData();
  for (const [name, content] of files) form.append('data', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  return form;
}

describe('inputs that cannot be read, among good ones', () => {
  let app: StartedApp;
  let wire: Wire;

  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  it('are refused alone by /add, which stores the others with their own labels', async () => {
    const answer = await wire.form(
      '/add',
      upload(
        [
          ['ada.txt', 'Ada Lovelace wrote notes on the Analytical Engine.'],
          ['empty.txt', ''],
          ['photo.png', PNG],
          ['charles.txt', 'Charles Babbage designed the Analytical Engine.'],
        ],
        { datasetName: 'added', labels: '["first","none","picture","fourth","text"]', raw_data: 'A text of its own.' },
      ),
    );
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json).to.include({ status: 'PipelineRunCompleted', dataset_name: 'added' });
    expect(answer.json.data_ingestion_info).to.have.length(3);
    const [empty, photo] = answer.json.refused;
    expect(answer.json.refused).to.have.length(2);
    expect(empty).to.deep.equal({
      index: 1,
      name: 'empty.txt',
      error_class: 'UnreadableFileContentError',
      message: "'empty.txt' cannot be read: it is empty",
    });
    expect(photo).to.include({ index: 2, name: 'photo.png' });
    const items = (await wire.get(`/datasets/${answer.json.dataset_id}/data`)).json;
    const labels = Object.fromEntries(items.map(({ name, label }: { name: string; label: string }) => [name, label]));
    expect(labels).to.include({ ada: 'first', charles: 'fourth' });
    expect(Object.values(labels)).to.have.members(['first', 'fourth', 'text']);
  });

  it('are refused alone when the others are there already, and when one content comes under two names', async () => {
    const first = await wire.form('/add', upload([['ada.txt', 'Ada met Charles.']], { datasetName: 'again' }));
    const files = [
      ['a.png', PNG],
      ['ada.txt', 'Ada met Charles.'],
      ['b.png', PNG],
    ] as const;
    const answer = await wire.form('/add', upload(files, { datasetName: 'again' }));
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json.data_ingestion_info[0].data_id).to.equal(first.json.data_ingestion_info[0].data_id);
    expect(answer.json.refused.map(({ index, name }: { index: number; name: string }) => [index, name])).to.deep.equal([
      [0, 'a.png'],
      [2, 'b.png'],
    ]);
  });

  it('are 415 with every name when nothing could be stored, and leave no dataset', async () => {
    const files = [
      ['empty.txt', ''],
      ['photo.png', PNG],
    ] as const;
    for (const path of ['/add', '/remember']) {
      const answer = await wire.form(path, upload(files, { datasetName: 'nothing' }));
      expect(answer.status, answer.text).to.equal(415);
      expect(Object.keys(answer.json)).to.deep.equal(['detail']);
      expect(answer.json.detail).to.match(/^'empty\.txt' .*; 'photo\.png' .* \[UnreadableFileContentError\]$/);
    }
    const names = (await wire.get('/datasets')).json.map(({ name }: { name: string }) => name);
    expect(names).not.to.include('nothing');
  });

  it('are refused alone when they are addresses that may not be fetched, without the secrets of an address', async () => {
    const data = ['http://user:hidden@127.0.0.1:1/x?key=hidden', 'postgresql://u:hidden@db/x', 'Ada lived in London.'];
    const answer = await wire.post('/add', { datasetName: 'addresses', data });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json.data_ingestion_info).to.have.length(1);
    expect(answer.json.refused).to.have.length(2);
    expect(answer.json.refused[0]).to.include({ index: 0, error_class: 'SSRFProtectionError' });
    expect(answer.json.refused[1]).to.include({ index: 1, name: null, error_class: 'InvalidRequestError' });
    expect(answer.text).not.to.include('hidden');
  });

  it('are refused alone by /remember, which builds the graph of the others', async () => {
    const files = [
      ['photo.png', PNG],
      ['grace.txt', 'Grace Hopper wrote the first compiler.'],
    ] as const;
    const answer = await wire.form('/remember', upload(files, { datasetName: 'remembered', self_improvement: false }));
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json).to.include({ status: 'completed', items_processed: 1 });
    expect(answer.json.refused).to.have.length(1);
    expect(answer.json.refused[0]).to.include({ index: 0, name: 'photo.png' });
    const found = await wire.post('/search', {
      query: 'Who wrote the first compiler?',
      search_type: 'CHUNKS',
      datasets: ['remembered'],
    });
    expect(found.text).to.include('Grace Hopper');
  });

  it('are refused alone by a session, which keeps the texts', async () => {
    const files = [
      ['photo.png', PNG],
      ['note.txt', 'The meeting is on Friday.'],
    ] as const;
    const fields = { datasetName: 'session', session_id: 'notes', self_improvement: false };
    const answer = await wire.form('/remember', upload(files, fields));
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json).to.include({ status: 'session_stored' });
    expect(answer.json.refused[0]).to.include({ index: 0, name: 'photo.png' });
    expect((await wire.get('/sessions/notes')).json.qas[0].answer).to.equal('The meeting is on Friday.');
  });

  it('leave an item as it was when they are its only new content', async () => {
    const added = await wire.form('/add', upload([['ada.txt', 'Ada met Charles in 1833.']], { datasetName: 'update' }));
    const [{ data_id: item }] = added.json.data_ingestion_info;
    const response = await fetch(`${app.baseUrl}/api/v1/update?data_id=${item}&dataset_id=${added.json.dataset_id}`, {
      method: 'PATCH',
      body: upload([['photo.png', PNG]], {}),
    });
    expect(response.status, await response.text()).to.equal(415);
    const raw = await wire.get(`/datasets/${added.json.dataset_id}/data/${item}/raw`);
    expect(raw.text).to.equal('Ada met Charles in 1833.');
  });
});
