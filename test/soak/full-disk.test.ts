import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type EngramProcess, runToExit, startProcess } from '../support/engram-process.ts';
import { leftBehind, NOTHING } from '../support/left-behind.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';
import { makeText } from './texts.ts';

const SIZE_MIB = 64;
const FULL = /(is full|no space left).* \[ServiceUnavailableError\]$/;

/** A disk of its own, small enough to be filled. Null where this user may not mount one. */
function mountSmallDisk(): string | null {
  const directory = mkdtempSync(join(tmpdir(), 'engram-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', directory], { stdio: 'ignore' });
    return directory;
  } catch {
    rmdirSync(directory);
    return null;
  }
}

function unmount(directory: string): void {
  execFileSync('umount', ['--lazy', directory]);
  rmdirSync(directory);
}

/** Takes what is free, to the last block. */
function fill(directory: string): void {
  for (let part = 0; part < 100; part += 1) {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail === 0) return;
    try {
      writeFileSync(join(directory, `filler-${part}`), Buffer.alloc(bavail * bsize));
    } catch {
      // The page that did not fit: the next look tells whether something is left.
    }
  }
}

describe('a full disk', function () {
  this.timeout(300_000);
  let disk: string | null = null;
  let server: EngramProcess;
  let wire: Wire;

  before(async function () {
    disk = mountSmallDisk();
    if (disk === null) {
      process.stdout.write('    skipped: this user may not mount a tmpfs\n');
      this.skip();
    }
    server = await startProcess({ dataDir: disk });
    wire = createWire(server.baseUrl);
    expect(
      (await wire.post('/add', { data: 'Ada Lovelace met Charles Babbage.', datasetName: 'small' })).status,
    ).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['small'] })).status).to.equal(200);
  });
  after(async () => {
    await server?.stop();
    if (disk !== null) unmount(disk);
  });

  const space = () => {
    const { bavail, bsize } = statfsSync(disk ?? '/');
    return bavail * bsize;
  };

  function expectFull(answer: Answer): void {
    expect(answer.status, answer.text).to.equal(503);
    expect(Object.keys(answer.json)).to.deep.equal(['detail']);
    expect(answer.json.detail).to.match(FULL).and.not.include(disk);
  }

  it('is one clear answer to whoever adds, and leaves nothing half-written', async () => {
    let accepted = 0;
    let answer: Answer;
    do {
      answer = await wire.upload('big', { name: `part-${accepted}.txt`, content: makeText(accepted, 15_000) });
      if (answer.status === 200) accepted += 1;
    } while (answer.status === 200);
    expectFull(answer);
    expect(accepted).to.be.greaterThan(3);
    expectFull(await wire.upload('big', { name: 'huge.txt', content: 'x '.repeat(12 * 1024 * 1024) }));
    const [big] = (await wire.get('/datasets')).json.filter(({ name }: { name: string }) => name === 'big');
    expect((await wire.get(`/datasets/${big.id}/data/count`)).json).to.deep.equal({ count: accepted });
    expect(leftBehind(disk ?? '', server.pid)).to.deep.equal(NOTHING);
  });

  it('ends a build with its cause, in time', async () => {
    fill(disk ?? '');
    const start = Date.now();
    expectFull(await wire.post('/cognify', { datasets: ['small'] }));
    expectFull(await wire.post('/add', { data: 'Alan Turing met Alonzo Church.', datasetName: 'small' }));
    expectFull(await wire.post('/datasets', { name: 'another' }));
    expect(Date.now() - start).to.be.below(20_000);
  });

  it('keeps nobody from searching and reading', async () => {
    const found = await wire.post('/search', { query: 'Ada', datasets: ['small'], search_type: 'CHUNKS' });
    expect(found.status).to.equal(200);
    expect(found.text).to.include('Ada Lovelace');
    expect((await wire.get('/datasets')).status).to.equal(200);
    const health = await fetch(`${server.baseUrl}/health`);
    expect(health.status).to.equal(200);
    expect(await health.json()).to.include({ status: 'ready', health: 'degraded' });
    expect(await (await fetch(`${server.baseUrl}/health/detailed`)).text()).to.include(
      'disk that holds the data directory is full',
    );
  });

  it('is over when there is space again: what was refused works, and the dataset can be forgotten', async () => {
    for (let part = 0; part < 100; part += 1) rmSync(join(disk ?? '', `filler-${part}`), { force: true });
    expect(space()).to.be.greaterThan(100_000);
    expect((await wire.post('/forget', { dataset: 'big' })).status).to.equal(200);
    expect(space()).to.be.greaterThan((SIZE_MIB / 2) * 1024 * 1024);
    expect((await wire.post('/add', { data: 'Alan Turing met Alonzo Church.', datasetName: 'small' })).status).to.equal(
      200,
    );
    expect((await wire.post('/cognify', { datasets: ['small'] })).status).to.equal(200);
    const found = await wire.post('/search', { query: 'Turing', datasets: ['small'], search_type: 'CHUNKS_LEXICAL' });
    expect(found.text).to.include('Alonzo Church');
    expect(leftBehind(disk ?? '', server.pid)).to.deep.equal(NOTHING);
  });

  it('is one message at the start', async () => {
    await server.stop();
    fill(disk ?? '');
    const { code, output } = await runToExit({ dataDir: disk ?? '' });
    expect(code).to.equal(1);
    expect(output)
      .to.match(/The disk that holds .+ is full/)
      .and.not.match(/^\s+at /m);
    for (let part = 0; part < 100; part += 1) rmSync(join(disk ?? '', `filler-${part}`), { force: true });
    server = await startProcess({ dataDir: disk ?? '' });
    const found = await createWire(server.baseUrl).post('/search', { query: 'Turing', datasets: ['small'] });
    expect(found.status).to.equal(200);
  });
});
