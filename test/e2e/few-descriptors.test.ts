import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePort, makeDataDir } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { until } from '../support/until.ts';
import { createWire } from '../support/wire.ts';

const START = fileURLToPath(new URL('../../services/start.mjs', import.meta.url));
const DATASETS = Array.from({ length: 25 }, (_, index) => `notes-${index}`);

describe('a server that may open few files', () => {
  const data = makeDataDir();
  after(() => data.remove());

  async function launch(limit: number) {
    const port = await freePort();
    const child = spawn('sh', ['-c', `ulimit -n ${limit} && exec "${process.execPath}" "${START}"`], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], HOME: tmpdir(), ENGRAM_DATA_DIR: data.path, HTTP_API_PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pieces: Buffer[] = [];
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    return { child, baseUrl: `http://127.0.0.1:${port}`, errors: () => Buffer.concat(pieces).toString() };
  }

  it('does not start with too few, and says how many it needs', async () => {
    const { child, errors } = await launch(64);
    const [code] = await once(child, 'exit');
    expect(code).to.equal(1);
    expect(errors()).to.match(/may open 64 files, and the server needs 96 at least. Raise the limit/);
  });

  itWhenWhole('builds and searches more datasets than it can have open', async () => {
    const { child, baseUrl } = await launch(96);
    try {
      const health = () => fetch(`${baseUrl}/health`).then(({ status }) => status, () => 0); // biome-ignore format: one line
      await until('it is healthy', async () => (await health()) === 200, { everyMs: 50 });
      const wire = createWire(baseUrl);
      for (const name of DATASETS) {
        expect((await wire.post('/add', { data: `Ada Lovelace wrote ${name}.`, datasetName: name })).status).to.equal(
          200,
        );
      }
      const run = await wire.post('/cognify', { datasets: DATASETS });
      expect(run.status, run.text).to.equal(200);
      for (const name of DATASETS) {
        const found = await wire.post('/search', { query: 'Ada', datasets: [name], search_type: 'CHUNKS' });
        expect(found.text).to.include(`wrote ${name}.`);
      }
      const all = await wire.post('/search', { query: 'Ada', search_type: 'CHUNKS' });
      expect(all.json).to.have.length(DATASETS.length);
      expect(all.text).to.not.include('"error"');
      expect(await health()).to.equal(200);
      expect(readdirSync(`/proc/${child.pid}/fd`).length).to.be.lessThan(90);
      await expectRefusedConnections(Number(new URL(baseUrl).port));
      await until('it is healthy again', async () => (await health()) === 200, { everyMs: 50 });
    } finally {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
  });

  /** Connections beyond the share are closed; those within it are served. */
  async function expectRefusedConnections(port: number): Promise<void> {
    const sockets: Socket[] = [];
    let closed = 0;
    for (let count = 0; count < 100; count += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
      sockets.push(socket);
    }
    await until('the others are closed', () => closed >= 80);
    expect(closed).to.be.lessThan(100);
    for (const socket of sockets) socket.destroy();
  }
});
