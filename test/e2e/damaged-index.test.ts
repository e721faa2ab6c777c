import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDataDir } from '../support/engram-process.ts';
import { leftBehind, NOTHING } from '../support/left-behind.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const NAMES = ['foreign', 'torn', 'whole'] as const;

/** Overwrites a part of every page but the first. */
function tear(file: string): void {
  const descriptor = openSync(file, 'r+');
  for (let at = 4096; at < statSync(file).size; at += 4096)
    writeSync(descriptor, Buffer.alloc(2000, 0xab), 0, 2000, at);
  closeSync(descriptor);
}

describe('a damaged index file of a dataset', () => {
  const data = makeDataDir();
  const ids = new Map<string, string>();
  let server: StartedApp;
  let wire: Wire;

  before(async () => {
    server = await startApp({}, { dataDir: data.path });
    wire = createWire(server.baseUrl);
    for (const name of NAMES) {
      const text = `Ada Lovelace met Charles Babbage and told the ${name} story. `.repeat(40);
      expect((await wire.post('/add', { data: text, datasetName: name })).status).to.equal(200);
    }
    expect((await wire.post('/cognify', { datasets: NAMES })).status).to.equal(200);
    for (const { id, name } of (await wire.get('/datasets')).json) ids.set(name, id);
    await server.stop({ keepData: true });
    writeFileSync(fileOf('foreign'), 'this is no database '.repeat(5000));
    tear(fileOf('torn'));
    server = await startApp({}, { dataDir: data.path });
    wire = createWire(server.baseUrl);
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  function fileOf(name: string): string {
    return join(data.path, 'datasets', 'personal', `${ids.get(name)}.db`);
  }

  const search = (name: string) => wire.post('/search', { query: 'Ada', datasets: [name], search_type: 'CHUNKS' });

  it('is one clear error that names the file and the way out, but no folder of the server', async () => {
    for (const name of ['foreign', 'torn']) {
      for (const answer of [
        await search(name),
        await wire.get(`/datasets/${ids.get(name)}/graph`),
        await wire.get(`/visualize?dataset_id=${ids.get(name)}`),
      ]) {
        expect(answer.status, answer.text).to.equal(500);
        expect(answer.json.detail).to.match(
          /^The index file .+\.db of the dataset is damaged.+ \[CorruptStoreError\]$/,
        );
        expect(answer.json.detail)
          .to.include(`${ids.get(name)}.db`)
          .and.include('memory_only');
        expect(answer.json.detail).to.not.include(data.path);
      }
      const run = await wire.post('/cognify', { datasets: [name] });
      // Everything was built already, or the run meets the damage: either is told.
      expect(run.status).to.be.oneOf([200, 500]);
      expect(run.text).to.not.include(data.path);
    }
  });

  it('leaves the items, the other datasets and searches over all of them alone', async () => {
    expect((await wire.get(`/datasets/${ids.get('torn')}/data/count`)).json).to.deep.equal({ count: 1 });
    expect((await search('whole')).text).to.include('whole story');
    const all = await wire.post('/search', { query: 'Ada', search_type: 'CHUNKS' });
    expect(all.status).to.equal(200);
    const failed = all.json.filter((entry: { error?: string }) => entry.error !== undefined);
    expect(failed.map((entry: { dataset_name: string }) => entry.dataset_name)).to.have.members(['foreign', 'torn']);
    expect(all.text).to.include('whole story').and.not.include(data.path);
    const summary = (await wire.get('/datasets/graph-summary')).json;
    expect(summary.map(({ datasetId }: { datasetId: string }) => datasetId)).to.deep.equal([ids.get('whole')]);
    expect((await (await fetch(`${server.baseUrl}/health`)).json()) as object).to.include({ status: 'ready' });
  });

  it('is made anew from what was added once its memory is forgotten', async () => {
    expect((await wire.post('/forget', { dataset: 'torn', memory_only: true })).status).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['torn'] })).status).to.equal(200);
    expect((await search('torn')).text).to.include('torn story');
  });

  it('goes with its dataset', async () => {
    expect((await wire.remove(`/datasets/${ids.get('foreign')}`)).status).to.equal(200);
    const left: readonly { readonly name: string }[] = (await wire.get('/datasets')).json;
    expect(left.map(({ name }) => name)).to.have.members(['torn', 'whole']);
    expect(leftBehind(data.path, process.pid)).to.deep.equal(NOTHING);
  });
});
