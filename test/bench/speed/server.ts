import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../support/free-ports.ts';
import { createShape, type Shape, type ShapeName } from './shape.ts';

const START = fileURLToPath(new URL('../../../services/start.mjs', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);

/** The whole service as processes of its own, as `npm start` or `npm run cluster` starts it, on empty stores. */
export interface BenchServer {
  readonly baseUrl: string;
  readonly directory: string;
  /** From spawning the process to the first answer of each service. */
  readonly bootMs: number;
  /** Memory of all its processes, without the servers of the stores. */
  memoryMb(): number;
  /** Highest resident memory since the start: the sum of each process's own. */
  peakMemoryMb(): number;
  /** User and system time of its processes since the start, in seconds. */
  cpuSeconds(): number;
  /** Ends this process and starts another one on the same data. */
  restart(): Promise<BenchServer>;
  /** Ends this process and leaves its data. */
  end(): Promise<void>;
  /** Also removes the data. */
  stop(): Promise<void>;
}

/** `settings`: variables beside those of the shape. `directory`: where the data is, a new one by default. */
export async function startServer(
  shapeName: ShapeName = 'embedded',
  settings: Readonly<Record<string, string>> = {},
  directory = mkdtempSync(join(tmpdir(), 'engram-bench-')),
): Promise<BenchServer> {
  const shape = createShape(shapeName);
  return startOn(directory, { ...shape, environment: { ...shape.environment, ...settings } });
}

async function startOn(directory: string, shape: Shape): Promise<BenchServer> {
  const port = await freePorts(1);
  const baseUrl = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...startFlags(), START, ...shape.command], {
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      ENGRAM_DATA_DIR: directory,
      HTTP_API_PORT: String(port),
      LOG_LEVEL: 'warn',
      ...shape.environment,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await untilReady(shape.readyUrls(port), child).catch((error: unknown) => {
    child.kill('SIGTERM');
    throw error;
  });
  const bootMs = performance.now() - started;
  const pids = [child.pid ?? 0, ...childrenOf(child.pid ?? 0)];
  const end = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  return {
    baseUrl,
    directory,
    bootMs,
    memoryMb: () => residentMb(pids, 'VmRSS'),
    peakMemoryMb: () => residentMb(pids, 'VmHWM'),
    cpuSeconds: () => cpuSeconds(pids),
    end,
    async restart() {
      await end();
      return startOn(directory, shape);
    },
    async stop() {
      await shape.forget(baseUrl);
      await end();
      await shape.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Options of Node in `npm start`. */
function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Six processes share the cores when the cluster starts. */
const START_TIMEOUT_MS = 180_000;

async function untilReady(urls: readonly string[], child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (const url of urls) {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      const isReady = await fetch(url).then(
        ({ status }) => status < 500,
        () => false,
      );
      if (isReady) break;
      if (performance.now() > deadline) throw new Error(`${url} was not ready in time`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Returns nothing outside Linux. */
function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Returns NaN (printed as null) outside Linux. */
function residentMb(pids: readonly number[], field: string): number {
  return Math.round(total(pids.map((pid) => kilobytes(pid, field))) / 1024);
}

function kilobytes(pid: number, field: string): number {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
    return Number(lines.find((entry) => entry.startsWith(field))?.split(/\s+/)[1]);
  } catch {
    return Number.NaN;
  }
}

const CLOCK_TICKS_PER_SECOND = 100;

function cpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    try {
      // The name of the program, in parentheses, may have spaces; user and system time are the 14th and 15th field.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return Number.NaN;
    }
  });
  return Math.round(total(ticks) / (CLOCK_TICKS_PER_SECOND / 10)) / 10;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
