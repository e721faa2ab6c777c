import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '../../common/domain/service-paths.ts';
import type { Logger } from '../../common/observability/logger.ts';

const START = fileURLToPath(new URL('../../start.mjs', import.meta.url));

export interface ServiceProcess {
  readonly service: ServiceName;
  /** SIGTERM, then the end; SIGKILL after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly service: ServiceName;
  readonly port: number;
  /** For uploads under way; removed at its next start. */
  readonly dataDir: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

export function originOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** One service in a process of its own, its log on ours. It is started again when it dies, as a cluster would. */
export function startServiceProcess({
  service,
  port,
  dataDir,
  variables,
  logger,
}: ServiceProcessOptions): ServiceProcess {
  let child: ChildProcess | null = null;
  let isStopping = false;
  let startedAt = 0;
  const run = () => {
    startedAt = performance.now();
    child = spawn(process.execPath, ['--max-semi-space-size=8', START], {
      env: {
        ...variables,
        ENGRAM_SERVICES: service,
        ENGRAM_DATA_DIR: dataDir,
        HTTP_API_PORT: String(port),
        HTTP_API_HOST: '127.0.0.1',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('exit', (code, signal) => void restart(code, signal));
  };
  const restart = async (code: number | null, signal: NodeJS.Signals | null) => {
    child = null;
    if (isStopping) return;
    logger.warn('cluster.service.died', { service, port, code, signal });
    // One that dies at once would otherwise be started as fast as the machine can.
    await wait(performance.now() - startedAt < 10_000 ? 2_000 : 100);
    if (!isStopping) run();
  };
  run();
  return {
    service,
    async stop(timeoutMs) {
      isStopping = true;
      const running = child;
      if (running === null || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGTERM');
      const timer = setTimeout(() => running.kill('SIGKILL'), timeoutMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
