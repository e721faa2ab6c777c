import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { itWhenWhole } from '../support/extent.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the package of npm pack', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-package-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  itWhenWhole('runs the command line and the server from its bundles alone', async () => {
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder };
    const npm = { cwd: root, env, maxBuffer: 1e8 };
    await run('npm', ['pack', '--pack-destination', folder], npm);
    const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    await run('tar', ['-xzf', tarball], { cwd: folder });
    // What npm install would put there.
    const modules = dirname(dirname(createRequire(import.meta.url).resolve('zod/package.json')));
    await symlink(modules, join(folder, 'package/node_modules'));
    const engram = join(folder, 'package/services/cli/engram.mjs');
    const call = async (...args: readonly string[]) => (await run(engram, args, { cwd: folder, env })).stdout;
    expect(await call('--version')).to.match(/^engram \d/);
    const { answers } = JSON.parse(await call('demo', '--json'));
    expect(JSON.stringify(answers[0])).to.include('Maria Lindqvist');
    expect(await readdir(root)).to.not.include('dist');
    const server = spawn(engram, ['serve', '--port', '0', '--data', 'kept'], { cwd: folder, env });
    let log = '';
    server.stdout.on('data', (piece) => {
      log += piece;
    });
    await until('it is ready', async () => log.includes('engram.started'), { everyMs: 50 });
    const url = /"url":"([^"]+)"/.exec(log)?.[1] ?? '';
    const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text();
    server.kill('SIGTERM');
    const [code] = await once(server, 'exit');
    expect(code).to.equal(0);
    expect(page)
      .to.match(/<script/)
      .and.not.include('without its console');
    expect(await readdir(join(folder, 'kept'))).to.include('control.db');
  });
});
