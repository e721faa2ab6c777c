import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

const START = fileURLToPath(new URL('../../services/start.mjs', import.meta.url));

/** The service as a process of its own, as `npm start` starts it. */
export interface EngramProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** Everything it printed, both streams. */
  output(): string;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>;
}

interface ProcessOptions {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** `migrate`, `cluster`; absent: the service itself. */
  readonly command?: string;
  /** After the command. */
  readonly commandArguments?: readonly string[];
  /** A descriptor for its log, instead of `output()`. */
  readonly standardOutput?: number;
}

export function makeDataDir(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'engram-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** For a process that is started later: one that no outgoing connection gets meanwhile. */
export function freePort(): Promise<number> {
  return freePorts(1);
}

/** Resolves when `/health` answers 200. */
export async function startProcess(options: ProcessOptions): Promise<EngramProcess> {
  const { child, output, port } = await launch(options);
  const baseUrl = `http://127.0.0.1:${port}`;
  // Reading what it prints is cheaper than many requests in vain: they take time from the process.
  const saysSo =
    options.command === undefined &&
    options.standardOutput === undefined &&
    options.environment?.['LOG_LEVEL'] === undefined;
  const isHealthy = async (): Promise<boolean> => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process ended');
    if (saysSo && !output().includes('"engram.started"')) return false;
    return fetch(`${baseUrl}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until('the process is healthy', isHealthy, { everyMs: 20 }).catch((cause: unknown) => {
    throw new Error(`${cause}: ${output()}`, { cause });
  });
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  return {
    baseUrl,
    pid: child.pid ?? 0,
    output,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
  };
}

/** For starts that must fail: the exit code and what was printed. */
export async function runToExit(
  options: ProcessOptions,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { child, output } = await launch(options);
  const timer = setTimeout(() => child.kill('SIGKILL'), 150_000);
  await once(child, 'exit');
  clearTimeout(timer);
  return { code: child.exitCode, output: output() };
}

async function launch({
  dataDir,
  environment = {},
  command,
  commandArguments = [],
  standardOutput,
}: ProcessOptions): Promise<{ child: ChildProcess; output: () => string; port: number }> {
  const port = environment['HTTP_API_PORT'] === undefined ? await freePort() : Number(environment['HTTP_API_PORT']);
  const child = spawn(process.execPath, command === undefined ? [START] : [START, command, ...commandArguments], {
    cwd: tmpdir(),
    env: {
      PATH: process.env['PATH'],
      HOME: tmpdir(),
      ENGRAM_DATA_DIR: dataDir,
      HTTP_API_PORT: String(port),
      ...environment,
    },
    stdio: ['ignore', standardOutput ?? 'pipe', 'pipe'],
  });
  const pieces: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr?.on('data', (piece: Buffer) => pieces.push(piece));
  return { child, output: () => Buffer.concat(pieces).toString(), port };
}
