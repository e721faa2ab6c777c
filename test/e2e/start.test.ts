import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type EngramProcess, freePort, makeDataDir, runToExit, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { until } from '../support/until.ts';

/** No stack trace, and short enough to be read. */
function expectOneMessage(output: string): void {
  expect(output).to.not.match(/^\s+at .+:\d+:\d+/m);
  expect(output.trim().split('\n').length).to.be.lessThan(8);
}

/** Starts the server on a terminal of its own, ends it by SIGTERM once it says `ready`; the exit code and what it wrote. */
async function onTerminal(args: readonly string[], ready: string): Promise<{ code: number | null; output: string }> {
  const start = fileURLToPath(new URL('../../services/start.mjs', import.meta.url));
  const terminal = spawn('script', ['-qefc', `exec ${[process.execPath, start, ...args].join(' ')}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: tmpdir() },
    cwd: tmpdir(),
  });
  let output = '';
  terminal.stdout.on('data', (piece) => {
    output += piece;
  });
  await until('the server says that it is ready', async () => output.trimEnd().endsWith(ready), { everyMs: 20 });
  const server = Number(readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8').trim());
  process.kill(server, 'SIGTERM');
  const [code] = await once(terminal, 'exit');
  return { code, output };
}

describe('starting', () => {
  it('ends with one message that lists every problem of the configuration', async () => {
    const data = makeDataDir();
    const { code, output } = await runToExit({
      dataDir: data.path,
      environment: { HTTP_API_PORT: 'eighty', LOG_LEVEL: 'loud', ENGRAM_STORES: 'paper' },
    });
    data.remove();
    expect(code).to.equal(1);
    expect(output).to.include('HTTP_API_PORT').and.include('LOG_LEVEL').and.include('ENGRAM_STORES');
    expectOneMessage(output);
  });

  it('ends with one message when the port is in use', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const data = makeDataDir();
    const { port } = blocker.address() as AddressInfo;
    const { code, output } = await runToExit({ dataDir: data.path, environment: { HTTP_API_PORT: String(port) } });
    blocker.close();
    data.remove();
    expect(code).to.equal(1);
    expect(output).to.include(String(port)).and.include('in use');
    expectOneMessage(output);
  });

  it('refuses a data directory that another process uses or a newer release wrote, and takes it over from a killed one', async () => {
    const data = makeDataDir();
    const first = await startProcess({ dataDir: data.path });
    const body = JSON.stringify({ data: 'Kept over the restart.', datasetName: 'kept' });
    const headers = { 'content-type': 'application/json' };
    const added = await fetch(`${first.baseUrl}/api/v1/add`, { method: 'POST', headers, body });
    expect(added.status).to.equal(200);
    const beside = await runToExit({ dataDir: data.path });
    expect(beside.code).to.equal(1);
    expect(beside.output).to.include(data.path);
    expectOneMessage(beside.output);
    await first.kill();
    const second = await startProcess({ dataDir: data.path });
    const datasets = (await (await fetch(`${second.baseUrl}/api/v1/datasets`)).json()) as { name: string }[];
    expect(datasets.map(({ name }) => name)).to.deep.equal(['kept']);
    expect(await second.stop(), 'on SIGTERM').to.equal(0);
    const database = new DatabaseSync(join(data.path, 'control.db'));
    database.exec("UPDATE meta SET value = 9999 WHERE key = 'schema_version'");
    database.close();
    const older = await runToExit({ dataDir: data.path });
    data.remove();
    expect(older.code).to.equal(1);
    expect(older.output).to.include('newer');
    expectOneMessage(older.output);

    const place = fileURLToPath(new URL('../../node_modules/.cache/engram', import.meta.url));
    const compiled = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(compiled).to.not.be.empty;
    // A thread with another place would have it inside.
    for (const { name } of compiled) {
      expect(readdirSync(join(place, name), { withFileTypes: true }).every((entry) => entry.isFile())).to.equal(true);
    }
  });

  it('names the file when the control database is corrupt', async () => {
    const data = makeDataDir();
    writeFileSync(join(data.path, 'control.db'), 'this is no database, it only looks like one from afar'.repeat(200));
    const { code, output } = await runToExit({ dataDir: data.path });
    data.remove();
    expect(code).to.equal(1);
    expect(output).to.include('control.db');
    expectOneMessage(output);
  });

  it('brings the files up to date by npm run migrate, for starts that do not', async () => {
    const data = makeDataDir();
    const environment = { ENABLE_AUTO_MIGRATIONS: 'false' };
    const migrated = await runToExit({ dataDir: data.path, environment, command: 'migrate' });
    expect(migrated.code, migrated.output).to.equal(0);
    expect(migrated.output).to.include('engram.migrated');
    const server = await startProcess({ dataDir: data.path, environment });
    expect(await server.stop()).to.equal(0);
    data.remove();
  });

  it('names a command that there is not', async () => {
    const data = makeDataDir();
    const { code, output } = await runToExit({ dataDir: data.path, command: 'migrat' });
    data.remove();
    expect(code).to.equal(1);
    expect(output).to.include('migrat');
    expectOneMessage(output);
  });

  it('takes port and data folder from options, and refuses others with help', async function () {
    if (process.platform !== 'linux') this.skip();
    const data = makeDataDir();
    const port = await freePort();
    const { code, output } = await onTerminal(
      ['--port', String(port), '--data', join(data.path, 'given')],
      `Engram is ready: http://127.0.0.1:${port}`,
    );
    const wrong = await runToExit({ dataDir: data.path, command: '--prot', commandArguments: ['8001'] });
    const asked = await runToExit({ dataDir: data.path, command: '--help' });
    const unfit = await runToExit({ dataDir: data.path, command: '--port', commandArguments: ['eighty'] });
    expect(readdirSync(join(data.path, 'given'))).to.include('control.db');
    data.remove();
    // A terminal gets lines to read, the address last, and the server ends with npm's shell or by a signal to itself.
    expect(code, output).to.equal(0);
    expect(output)
      .to.match(/engram\.started/)
      .and.not.match(/^\{"level"/m);
    expect(wrong.code).to.equal(1);
    expect(wrong.output)
      .to.match(/'--prot'.*Did you mean --port\?/)
      .and.include('Usage: npm start');
    expect(asked.code).to.equal(0);
    expect(asked.output).to.match(/^Usage: npm start/);
    expect(unfit.output).to.include('--port: "eighty"');
  });

  it('says so when the data directory cannot be one', async () => {
    const data = makeDataDir();
    const file = join(data.path, 'file');
    writeFileSync(file, '');
    const { code, output } = await runToExit({ dataDir: join(file, 'below') });
    data.remove();
    expect(code).to.equal(1);
    expect(output).to.include(file);
    expectOneMessage(output);
  });

  itWhenWhole('saves compiled code where NODE_COMPILE_CACHE says, without waiting for its own end', async () => {
    const data = makeDataDir();
    const place = join(data.path, 'compiled');
    const server = await startProcess({ dataDir: data.path, environment: { NODE_COMPILE_CACHE: place } });
    const saved = () => readdirSync(place, { recursive: true }).length;
    for (let waited = 0; saved() < 100 && waited < 20_000; waited += 100) await sleep(100);
    const count = saved();
    await server.kill();
    data.remove();
    expect(count).to.be.greaterThan(100);
  });

  it('leaves its port and its data directory when npm start is ended by SIGTERM', async () => {
    const data = makeDataDir();
    const port = await freePort();
    const npm = spawn('npm', ['start'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH: process.env['PATH'], HTTP_API_PORT: String(port), ENGRAM_DATA_DIR: data.path },
      stdio: 'ignore',
    });
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the server is up', isUp);
    const ended = once(npm, 'exit');
    npm.kill('SIGTERM');
    await ended;
    await until('the server is down', async () => !(await isUp()));
    let next: EngramProcess | undefined;
    await until('another server can take its place', async () => {
      next = await startProcess({ dataDir: data.path, environment: { HTTP_API_PORT: String(port) } }).catch(
        () => undefined,
      );
      return next !== undefined;
    });
    expect(await next?.stop()).to.equal(0);
    data.remove();
  });
});
