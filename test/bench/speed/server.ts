import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../../services/start.mjs', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);

/** The whole service as a process of its own, as `npm start` starts it, on an empty data directory. */
export interface BenchServer {
  readonly baseUrl: string;
  /** From spawning the process to the first 200 of `/health`. */
  readonly bootMs: number;
  memoryMb(): number;
  /** Highest resident memory since the start. */
  peakMemoryMb(): number;
  stop(): Promise<void>;
}

export async function startServer(environment: Readonly<Record<string, string>> = {}): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), 'engram-bench-'));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...startFlags(), START], {
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      ENGRAM_DATA_DIR: directory,
      HTTP_API_PORT: String(port),
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await untilHealthy(baseUrl, child);
  const bootMs = performance.now() - started;
  return {
    baseUrl,
    bootMs,
    memoryMb: () => residentMb(child, 'VmRSS'),
    peakMemoryMb: () => residentMb(child, 'VmHWM'),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What `npm start` gives Node before the file. */
function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilHealthy(baseUrl: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    try {
      if ((await fetch(`${baseUrl}/health`)).status === 200) return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  throw new Error('the server did not become healthy within 30 s');
}

/** Linux only; elsewhere NaN, printed as null. */
function residentMb(child: ChildProcess, field: string): number {
  try {
    const line = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(field));
    return Math.round(Number(line?.split(/\s+/)[1]) / 1024);
  } catch {
    return Number.NaN;
  }
}
