import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../test/support/until.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** Listens where it is told, reports where that is, and ends when it is told to. */
const WELL = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => {
    response.end(String(process.pid));
    if (request.url === '/die') setTimeout(() => process.exit(3), 20);
  });
  server.listen(Number(process.env.HTTP_API_PORT), '127.0.0.1', () => {
    process.send({ url: 'http://127.0.0.1:' + server.address().port });
  });
  process.on('SIGTERM', () => process.exit(0));`;
/** The second start fails for another reason than all others. */
const ILL = `
  import { appendFileSync, readFileSync } from 'node:fs';
  const file = process.env.STARTS;
  appendFileSync(file, 'x');
  const count = readFileSync(file, 'utf8').length;
  process.send({ failure: count === 2 ? 'another reason' : 'the store is of a newer release' }, () => process.exit(1));`;

describe('process of a service', () => {
  let folder: string;
  const running: ServiceProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-services-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop(1_000)));
    await rm(folder, { recursive: true });
  });

  async function start(script: string, onFailure: (reason: string) => void = () => {}): Promise<ServiceProcess> {
    const program = join(folder, 'program.mjs');
    await writeFile(program, script);
    const started = startServiceProcess({
      service: 'search' as const,
      dataDir: folder,
      logger: createSilentLogger(),
      onFailure,
      program,
      pauseMs: 10,
      variables: { PATH: process.env['PATH'], STARTS: join(folder, 'starts') },
    });
    running.push(started);
    return started;
  }

  it('listens on a free port of its own, and on another one when it was started again', async () => {
    const [one, other] = [await start(WELL), await start(WELL)];
    await until('both listen', () => one.origin() !== null && other.origin() !== null);
    expect(one.origin()).to.not.equal(other.origin());
    const pid = await (await fetch(`${one.origin()}/die`)).text();
    await until('it is gone', () => one.origin() === null);
    await until('it listens again', () => one.origin() !== null);
    expect(await (await fetch(`${one.origin()}/`)).text()).to.not.equal(pid);
  });

  it('is given up when it fails three times for the same reason, which is told', async () => {
    const reasons: string[] = [];
    await start(ILL, (reason) => reasons.push(reason));
    await until('it is given up', () => reasons.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(reasons).to.deep.equal(['the store is of a newer release']);
  });

  it('is started again however often it is killed after it had started', async () => {
    const reasons: string[] = [];
    const service = await start(WELL, (reason) => reasons.push(reason));
    for (let kills = 0; kills < 4; kills += 1) {
      await until('it listens', () => service.origin() !== null);
      process.kill(Number(await (await fetch(`${service.origin()}/`)).text()), 'SIGKILL');
      await until('it is gone', () => service.origin() === null);
    }
    await until('it listens again', () => service.origin() !== null);
    expect(reasons).to.deep.equal([]);
  });

  it('is told by how it ended when it says nothing', async () => {
    const reasons: string[] = [];
    await start('process.exit(7);', (reason) => reasons.push(reason));
    await until('it is given up', () => reasons.length > 0);
    expect(reasons).to.deep.equal(['it ended with code 7']);
  });
});
