import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('../../../../shared/backends/nats', import.meta.url));

/** Whether servers with settings of their own can be started here. */
export const canStartServers = existsSync(SCRIPT);

/** A NATS server of one test, beside the shared one, by the script that started that; its settings are in the script. */
export interface SecondServer extends AsyncDisposable {
  /** What the script exports, without `ENGRAM_TEST_NATS_`: URL, CA_FILE, CERT_FILE, KEY_FILE. */
  readonly exports: Readonly<Record<string, string>>;
}

export async function startServer(settings: Readonly<Record<string, string>>): Promise<SecondServer> {
  const env = {
    ...process.env,
    ENGRAM_BACKENDS_INSTANCE: `test-${randomUUID().slice(0, 8)}`,
    NATS_PORT: await freePort(),
    NATS_MONITOR_PORT: await freePort(),
    ...settings,
  };
  const run = async (...words: readonly string[]) =>
    (await promisify(execFile)('bash', [SCRIPT, ...words], { env })).stdout;
  await run('up');
  const lines = await run('env');
  const exports = Object.fromEntries(
    [...lines.matchAll(/^export ENGRAM_TEST_NATS_(\w+)='?([^'\n]*)'?$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  return { exports, [Symbol.asyncDispose]: () => run('down', '--wipe').then(() => undefined) };
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return String(address.port);
}
