import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '../../common/domain/service-paths.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import { isServiceReport } from './service-report.ts';

const START = fileURLToPath(new URL('../../start.mjs', import.meta.url));

export type ServiceProcess = ReturnType<typeof startServiceProcess>;

interface ServiceProcessOptions {
  readonly service: ServiceName;
  /** Directory of uploads under way; removed at its next start. */
  readonly dataDir: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** It failed so often for this reason that it is not started again. */
  readonly onFailure: (reason: string) => void;
  /** Program to run; default the service. */
  readonly program?: string;
  /** Before a start after a failure; default 2 s. */
  readonly pauseMs?: number;
}

/** Starts that fail for one reason until nothing else is to be expected. */
const MAX_FAILURES = 3;
/** One that runs for so long has started: what ends it then is another matter. */
const STARTED_MS = 10_000;

/**
 * One service in a process of its own, on a free port, its log on ours. It is started again when it dies, as a cluster would,
 * but not for ever.
 */
export function startServiceProcess(options: ServiceProcessOptions) {
  const { service, dataDir, variables, logger, onFailure, program = START, pauseMs = 2_000 } = options;
  let child: ChildProcess | null = null;
  let origin: string | null = null;
  let isStopping = false;
  let failures = { reason: '', count: 0 };
  const run = () => {
    const startedAt = performance.now();
    let reported: string | null = null;
    // A signal to the terminal's processes reaches the cluster alone, which ends its services in order.
    child = spawn(process.execPath, ['--max-semi-space-size=8', program], {
      env: {
        ...variables,
        ENGRAM_SERVICES: service,
        ENGRAM_DATA_DIR: dataDir,
        HTTP_API_PORT: '0',
        HTTP_API_HOST: '127.0.0.1',
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    child.on('message', (message: unknown) => {
      if (!isServiceReport(message)) return;
      if ('url' in message) origin = message.url;
      else reported = message.failure;
    });
    child.once('exit', (code, signal) => {
      const hasStarted = origin !== null;
      child = null;
      origin = null;
      // Once it has started, only somebody outside ends it like that.
      const isKilled = hasStarted && (signal === 'SIGKILL' || signal === 'SIGTERM');
      const reason = reported ?? (signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`);
      void died(reason, !isKilled && performance.now() - startedAt < STARTED_MS);
    });
  };
  const died = async (reason: string, isFailure: boolean) => {
    if (isStopping) return;
    logger.warn('cluster.service.died', { service, reason });
    if (!isFailure) failures = { reason: '', count: 0 };
    else failures = { reason, count: failures.reason === reason ? failures.count + 1 : 1 };
    if (failures.count >= MAX_FAILURES) {
      isStopping = true;
      onFailure(reason);
      return;
    }
    // One that dies at once would otherwise be started as fast as the machine can.
    await wait(isFailure ? pauseMs : 100);
    if (!isStopping) run();
  };
  run();
  return {
    service,
    /** Address of the process; null while it does not listen. */
    origin: () => origin,
    /** SIGTERM, then the end; SIGKILL after `timeoutMs`. */
    async stop(timeoutMs: number) {
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
