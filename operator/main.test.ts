import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../test/support/until.ts';

interface Started {
  readonly process: ChildProcess;
  out(): string;
  err(): string;
  ended(): Promise<number | null>;
}

function start(variables: Readonly<Record<string, string>>): Started {
  const env = { PATH: process.env['PATH'], ENGRAM_NATS_URL: 'nats://127.0.0.1:1', ...variables };
  const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url))], { env, cwd: tmpdir() });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    texts.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.err += chunk.toString();
  });
  const closed = once(child, 'close');
  return {
    process: child,
    out: () => texts.out,
    err: () => texts.err,
    ended: async () => (await closed)[0] as number | null,
  };
}

describe('process of the operator', () => {
  let folder: string;
  const started: Started[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-operator-'));
  });
  after(async () => {
    for (const { process: child } of started) child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });

  it('exits with a readable message without an API server', async () => {
    const operator = start({});
    started.push(operator);
    expect(await operator.ended()).to.equal(1);
    expect(operator.err()).to.match(/ENGRAM_OPERATOR_KUBECONFIG: needed outside of a pod/);
    expect(operator.err()).not.to.match(/\n\s+at /);
  });

  it('waits for the bus, alive but not ready, and stops cleanly on a signal', async () => {
    const kubeconfig = join(folder, 'config');
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: {} }],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const operator = start({
      ENGRAM_OPERATOR_KUBECONFIG: kubeconfig,
      ENGRAM_OPERATOR_HOST: '127.0.0.1',
      ENGRAM_OPERATOR_PORT: '0',
    });
    started.push(operator);
    await until('it waits', () => operator.out().includes('bus.connect.retried'));
    const { url } = JSON.parse(/^.*operator\.listening.*$/m.exec(operator.out())?.[0] ?? '{}') as { url: string };
    const [alive, ready] = await Promise.all([fetch(`${url}/livez`), fetch(`${url}/readyz`)]);
    expect([alive.status, ready.status]).to.deep.equal([200, 503]);
    expect(await ready.text()).to.equal('- bus\n');
    operator.process.kill('SIGTERM');
    expect(await operator.ended()).to.equal(0);
    expect(operator.err()).to.equal('');
  });
});
