import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliFailure, exitCodes, type Terminal } from './terminal.ts';

/** Folder of the package, from the sources and from its bundle. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** Node 24 for the server: the one that runs, else the one that the package brings along. */
export function serverNode(): string {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major >= 24) return process.execPath;
  const { platform, arch } = process;
  const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
  try {
    const folder = dirname(createRequire(join(packageRoot(), 'package.json')).resolve(`${name}/package.json`));
    return join(folder, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  } catch (error) {
    throw new CliFailure(
      `The server runs on Node 24; this is ${process.version}. Install Node 24, or run the container image.`,
      exitCodes.failed,
      { cause: error },
    );
  }
}

/** Starts `services/start.mjs`; this process hands its signals on. */
function spawnServer(
  args: readonly string[],
  options: { readonly environment: Terminal['environment']; readonly output: 'inherit' | 'pipe' },
): ChildProcess {
  const start = join(packageRoot(), 'services/start.mjs');
  return spawn(serverNode(), ['--max-semi-space-size=8', start, ...args], {
    env: { ...options.environment },
    stdio: ['ignore', options.output, options.output],
  });
}

/** The server in the foreground, to its end; the exit code. */
export async function runServer(args: readonly string[], terminal: Terminal): Promise<number> {
  const child = spawnServer(args, { environment: terminal.environment, output: 'inherit' });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
  // A terminal sends Ctrl-C to the child as well, and a second signal would cut it off.
  const stopTerm = replaceSignal('SIGTERM', () => child.kill('SIGTERM'));
  const stopInt = replaceSignal('SIGINT', () => {
    if (!terminal.isInteractive) child.kill('SIGINT');
  });
  try {
    return await ended;
  } finally {
    stopTerm();
    stopInt();
  }
}

function replaceSignal(signal: NodeJS.Signals, handle: () => void): () => void {
  const others = process.listeners(signal);
  process.removeAllListeners(signal);
  process.on(signal, handle);
  return () => {
    process.removeListener(signal, handle);
    for (const listener of others) process.on(signal, listener);
  };
}

export interface LocalServer {
  readonly url: string;
  stop(): Promise<void>;
}

const STARTED_WITHIN_MS = 60_000;

/** A server of this command alone, on a free port. Errors: `CliFailure` with what it wrote. */
export async function startServer(dataDir: string, terminal: Terminal): Promise<LocalServer> {
  const environment = { ...terminal.environment, HTTP_API_HOST: '127.0.0.1', LOG_LEVEL: 'info' };
  const child = spawnServer(['--port', '0', '--data', dataDir], { environment, output: 'pipe' });
  let log = '';
  const url = await new Promise<string>((resolve, reject) => {
    const failed = () => reject(new CliFailure(`The server did not start:\n${log.trim()}`, exitCodes.failed));
    const timer = setTimeout(failed, STARTED_WITHIN_MS);
    const read = (piece: Buffer) => {
      log = (log + piece).slice(-20_000);
      const found = /"url":"([^"]+)"[^\n]*"event":"engram\.started"/.exec(log)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', failed);
    child.once('error', failed);
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const forget = terminal.onInterrupt?.(() => child.kill('SIGTERM'));
  return {
    url,
    async stop() {
      forget?.();
      child.kill('SIGTERM');
      await gone;
    },
  };
}
