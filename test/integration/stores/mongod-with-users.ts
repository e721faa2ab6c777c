import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '../../support/free-ports.ts';

const SCRIPT = fileURLToPath(new URL('../../../../shared/backends/mongodb', import.meta.url));

/** Whether servers with settings of their own can be started here. */
export const canStartMongod = existsSync(SCRIPT);

/** A MongoDB that asks who one is, beside the shared one, which does not: by the script that started that. */
export interface MongodWithUsers extends AsyncDisposable {
  /** As its administrator. */
  readonly url: string;
  readonly password: string;
}

export async function startMongodWithUsers(): Promise<MongodWithUsers> {
  const password = randomUUID();
  const env = {
    ...process.env,
    ENGRAM_BACKENDS_INSTANCE: `test-${randomUUID().slice(0, 8)}`,
    MONGODB_PORT: String(await freePorts(1)),
    MONGODB_USER: 'root',
    MONGODB_PASSWORD: password,
  };
  const run = async (...words: readonly string[]) =>
    (await promisify(execFile)('bash', [SCRIPT, ...words], { env })).stdout;
  await run('up');
  const url = (await run('url')).trim();
  return { url, password, [Symbol.asyncDispose]: () => run('down', '--wipe').then(() => undefined) };
}
