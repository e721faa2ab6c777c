import { copyFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDataDir } from '../support/engram-process.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

const TEXTS = Array.from({ length: 5 }, (_, index) => `Ada Lovelace wrote letter number ${index} to Charles Babbage.`);

function remove(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

describe('a dataset whose index file is lost', () => {
  const data = makeDataDir();
  let app: StartedApp;
  let log: string[];
  let wire: Wire;
  let datasetId: string;

  before(async () => {
    await start();
    const added = await wire.post('/add', { data: TEXTS, datasetName: 'letters' });
    datasetId = added.json.dataset_id;
    expect((await wire.post('/cognify', { datasets: ['letters'] })).status).to.equal(200);
    expect(foundBy(await search())).to.equal(5);
  });
  after(async () => {
    await stop();
    data.remove();
  });

  async function start(): Promise<void> {
    log = [];
    app = await startApp({}, { dataDir: data.path, log });
    wire = createWire(app.baseUrl);
  }

  const stop = () => app.stop({ keepData: true });
  const says = (event: string) => until(`the log says ${event}`, () => log.some((line) => line.includes(event)));
  const file = () => join(data.path, 'datasets', 'personal', `${datasetId}.db`);
  const search = () =>
    wire.post('/search', { query: 'letter', datasets: ['letters'], search_type: 'CHUNKS', top_k: 10 });
  const foundBy = ({ status, json }: Answer): number => (status === 200 ? json[0].search_result.length : -1);

  /** Never an empty answer: first one that says what happens, then the rows. */
  async function expectRebuilt(): Promise<void> {
    let refusals = 0;
    await until('the index is rebuilt', async () => {
      const answer = await search();
      if (answer.status === 200) return foundBy(answer) === 5 || expect.fail(`answered ${answer.text}`);
      refusals += 1;
      expect(answer.status, answer.text).to.equal(503);
      expect(answer.json.detail).to.match(/index of the dataset was lost and is being rebuilt.*\d of 5 items/);
      return false;
    });
    expect(refusals, 'refusals').to.be.greaterThan(0);
    await says('index.rebuilt');
    await says('index.lost');
    const status = await wire.get(`/datasets/status?dataset=${datasetId}`);
    expect(status.json[datasetId]).to.equal('DATASET_PROCESSING_COMPLETED');
    expect((await (await fetch(`${app.baseUrl}/health`)).json()) as object).to.include({ health: 'healthy' });
  }

  it('emptied while the server was stopped is built again by itself', async () => {
    await stop();
    truncateSync(file(), 0);
    await start();
    await expectRebuilt();
  });

  it('removed while the server was stopped is built again without anybody asking for it', async () => {
    await stop();
    remove(file());
    await start();
    await says('index.rebuilt');
    expect(foundBy(await search())).to.equal(5);
  });

  it('emptied while the server runs is built again by itself', async () => {
    truncateSync(file(), 0);
    await expectRebuilt();
  });

  it('removed while the server runs is built again by itself', async () => {
    remove(file());
    await expectRebuilt();
  });

  it('replaced by an older copy gets back what the copy lacks', async () => {
    await stop();
    const older = join(data.path, 'older.db');
    copyFileSync(file(), older);
    await start();
    const more = await wire.post('/add', { data: 'Ada Lovelace wrote letter number 5.', datasetName: 'letters' });
    expect(more.status).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['letters'] })).status).to.equal(200);
    expect(foundBy(await search())).to.equal(6);
    await stop();
    copyFileSync(older, file());
    await start();
    const answer = await search();
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.json.detail).to.include('0 of 1 items are done');
    await until('all rows are back', async () => foundBy(await search()) === 6);
    const [item] = more.json.data_ingestion_info;
    expect((await wire.post('/forget', { datasetId, dataId: item.data_id })).status).to.equal(200);
  });

  it('is built again also when what comes first is a run', async () => {
    remove(file());
    expect(
      (await wire.post('/add', { data: 'Ada Lovelace wrote letter number 6.', datasetName: 'letters' })).status,
    ).to.equal(200);
    const run = await wire.post('/cognify', { datasets: ['letters'] });
    expect(run.status, run.text).to.equal(200);
    await until('all rows are back', async () => foundBy(await search()) === 6);
  });
});
