import { expect } from 'chai';
import { makeDataDir } from '../support/engram-process.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

describe('Idempotency-Key', () => {
  const data = makeDataDir();
  let server: StartedApp;
  before(async () => {
    server = await startApp({}, { dataDir: data.path });
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  const send = (key: string, answer = 'Ada.') => {
    const entry = { type: 'qa', question: 'Who?', answer };
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const body = { entry, dataset_name: 'notes', session_id: 's1' };
    return createWire(server.baseUrl).post('/remember/entry', body, headers);
  };
  const remember = (text: string) => {
    const form = new FormData();
    form.append('datasetName', 'files');
    form.append('data', new Blob([text]), 'a.txt');
    return createWire(server.baseUrl, { 'idempotency-key': 'form' }).form('/remember', form);
  };

  it('gives the first answer again, also after another start, and keeps one entry', async () => {
    const first = await send('one');
    const again = await send('one');
    expect(first.status, first.text).to.equal(200);
    expect(first.headers.get('idempotency-replayed')).to.equal(null);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    await server.stop({ keepData: true });
    server = await startApp({}, { dataDir: data.path });
    expect((await send('one')).json).to.deep.equal(first.json);
    expect((await createWire(server.baseUrl).get('/sessions/s1')).json.qas).to.have.length(1);
    expect((await send('two')).json.entry_id).not.to.equal(first.json.entry_id);
  });

  it('compares forms by their content, and refuses another one', async () => {
    const first = await remember('Grace Hopper wrote a compiler.');
    expect((await remember('Grace Hopper wrote a compiler.')).json).to.deep.equal(first.json);
    const other = await remember('Something else.');
    expect(other.status).to.equal(422);
    expect(other.json.detail).to.match(/with another request before.*\[CogneeValidationError\]/);
  });

  it('refuses the key of another request and one that is none', async () => {
    expect((await send('one', 'Grace.')).status).to.equal(422);
    expect((await send('has space')).status).to.equal(400);
  });

  it('carries out again what was refused', async () => {
    const wire = createWire(server.baseUrl);
    const made = async () => (await wire.post('/datasets', { name: 'later' })).json.id as string;
    const id = await made();
    const remove = () => createWire(server.baseUrl, { 'idempotency-key': 'late' }).remove(`/datasets/${id}`);
    await wire.remove(`/datasets/${id}`);
    expect((await remove()).status).to.be.within(400, 499);
    expect(await made()).to.equal(id);
    expect((await remove()).status).to.equal(200);
  });
});
