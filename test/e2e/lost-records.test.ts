import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDataDir } from '../support/engram-process.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('the data directory of a running server', () => {
  const data = makeDataDir();
  const directory = join(data.path, 'data');
  const aside = join(data.path, 'aside');
  const control = join(directory, 'control.db');
  let server: StartedApp;
  let log: string[];
  let wire: Wire;

  beforeEach(async () => {
    await start();
    expect((await add()).status).to.equal(200);
  });
  afterEach(async () => {
    await server.stop({ keepData: true });
    for (const path of [directory, aside]) rmSync(path, { recursive: true, force: true });
  });
  after(() => data.remove());

  const start = async () => {
    log = [];
    server = await startApp({}, { dataDir: directory, log });
    wire = createWire(server.baseUrl);
  };
  const logged = (event: string) => log.some((line) => line.includes(event));
  const add = () => wire.post('/add', { data: `Ada Lovelace, ${Math.random()}`, datasetName: 'notes' });
  const healthOf = async (path: string) => {
    const answer = await fetch(`${server.baseUrl}${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  async function expectRefusals(reason: RegExp): Promise<void> {
    const added = await add();
    expect(added.status, added.text).to.equal(503);
    expect(added.json.detail).to.match(reason).and.not.include(data.path);
    for (const path of ['/health', '/readyz', '/health/detailed']) {
      await until(`${path} says so`, async () => (await healthOf(path)).status === 503);
    }
    expect((await healthOf('/health/detailed')).text).to.match(reason);
    await until('the log says so', () => logged('store.lost'));
  }

  it('without its control.db takes nothing, and goes on when the file is back', async () => {
    renameSync(control, aside);
    await expectRefusals(/control\.db was removed while the server was running/);
    renameSync(aside, control);
    expect((await add()).status).to.equal(200);
    await until('it is healthy', async () => (await healthOf('/health')).status === 200);
    await server.stop({ keepData: true });
    await start();
    const [dataset] = (await wire.get('/datasets')).json;
    const items = await wire.get(`/datasets/${dataset.id}/data`);
    expect(items.json).to.have.length(2);
  });

  it('with another control.db takes nothing', async () => {
    renameSync(control, aside);
    writeFileSync(control, '');
    await expectRefusals(/control\.db was replaced while the server was running/);
  });

  it('removed as a whole is not made again by what is added', async () => {
    renameSync(directory, aside);
    await expectRefusals(/was removed while the server was running/);
    mkdirSync(directory);
    await expectRefusals(/was removed while the server was running/);
  });

  it('without its control.db at the start is said to be empty beside what an earlier server stored', async () => {
    expect(logged('store.records_missing')).to.equal(false);
    await server.stop({ keepData: true });
    rmSync(control);
    await start();
    expect(logged('store.records_missing')).to.equal(true);
  });
});
