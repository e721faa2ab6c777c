import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../test/support/free-ports.ts';
import { until } from '../../test/support/until.ts';
import { WAKE_REQUESTED_EXIT_CODE } from './answer.ts';

describe('process of the activator', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'asleep-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function start(...words: readonly string[]) {
    const port = await freePorts(1);
    const child = spawn(process.execPath, ['operator/activator/main.ts', String(port), ...words], { stdio: 'ignore' });
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const ask = async () => {
      const headers = { 'x-api-key': 'anything', connection: 'close' };
      return (await fetch(`http://127.0.0.1:${port}/api/v1/datasets`, { headers })).status;
    };
    await until(
      'it listens',
      async () => (await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null))?.ok === true,
    );
    return { child, ended, ask };
  }

  it('exits once with the wake code when a request wakes the tenant', async () => {
    const words = ['OnRequest', join(directory, 'rung')];
    const first = await start(...words);
    expect(await first.ask()).to.equal(503);
    expect(await first.ended).to.equal(WAKE_REQUESTED_EXIT_CODE);
    const second = await start(...words);
    expect([await second.ask(), await second.ask()]).to.deep.equal([503, 503]);
    second.child.kill('SIGTERM');
    expect(await second.ended).to.equal(0);
  });

  it('exits again with the wake code after a quarter of an hour', async () => {
    const file = join(directory, 'rung');
    const words = ['OnRequest', file];
    const first = await start(...words);
    await first.ask();
    expect(await first.ended).to.equal(WAKE_REQUESTED_EXIT_CODE);
    const longAgo = new Date(Date.now() - 16 * 60_000);
    await utimes(file, longAgo, longAgo);
    const second = await start(...words);
    expect(await second.ask()).to.equal(503);
    expect(await second.ended).to.equal(WAKE_REQUESTED_EXIT_CODE);
    const third = await start(...words);
    expect([await third.ask(), await third.ask()]).to.deep.equal([503, 503]);
    third.child.kill('SIGTERM');
    expect(await third.ended).to.equal(0);
  });

  it('keeps running when requests do not wake the tenant', async () => {
    const { child, ended, ask } = await start();
    expect([await ask(), await ask()]).to.deep.equal([503, 503]);
    child.kill('SIGTERM');
    expect(await ended).to.equal(0);
  });
});
