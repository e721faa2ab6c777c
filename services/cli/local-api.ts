import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalServer, startServer } from './local-server.ts';
import type { Terminal } from './terminal.ts';

type Send = (path: string, init: RequestInit) => Promise<Response>;

export interface LocalApi {
  readonly send: Send;
  /** Ends the server, if it was started here. */
  stop(): Promise<void>;
}

export interface LocalApiOptions {
  /** Where a server is looked for first. */
  readonly url: string;
  readonly dataDir: string;
  readonly terminal: Terminal;
  readonly sendTo: (url: string) => Send;
}

/** Folder of the data that the agents of a person share. */
export function agentDataFolder(environment: Terminal['environment']): string {
  const { ENGRAM_DATA_DIR: given, XDG_DATA_HOME: home, HOME: person } = environment;
  return given || join(home || join(person || homedir(), '.local/share'), 'engram');
}

/**
 * The API of the server on this machine: of the one that runs, else of one that is started with the first request. Several
 * agents share one; when the one who started it ends, the next request of another one starts it again.
 */
export function createLocalApi({ url, dataDir, terminal, sendTo }: LocalApiOptions): LocalApi {
  const folder = resolve(dataDir);
  const addressFile = join(folder, 'server.url');
  let own: LocalServer | null = null;
  let stopped = false;
  let found: Promise<string> | null = null;

  async function running(): Promise<string | null> {
    const noted = await readFile(addressFile, 'utf8').catch(() => '');
    for (const each of [url, noted.trim()]) if (each !== '' && (await isEngram(each))) return each;
    return null;
  }

  async function start(): Promise<string> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    own = await startServer(folder, terminal);
    if (stopped) await own.stop();
    await writeFile(`${addressFile}.new`, own.url, { mode: 0o600 });
    await rename(`${addressFile}.new`, addressFile);
    terminal.err.write(`engram mcp: started a server at ${own.url}, data in ${folder}\n`);
    return own.url;
  }

  async function find(): Promise<string> {
    const there = await running();
    if (there !== null) return there;
    try {
      return await start();
    } catch (error) {
      // Another agent may have been quicker, and holds the data.
      for (let tries = 0; tries < SHARED_TRIES; tries += 1) {
        const other = await running();
        if (other !== null) return other;
        await sleep(SHARED_PAUSE_MS);
      }
      throw error;
    }
  }

  const address = (): Promise<string> => {
    found ??= find().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
  // The start goes on while the client introduces itself; a failure is told by the first request.
  void address().catch(() => {});
  return {
    async send(path, init) {
      try {
        return await sendTo(await address())(path, init);
      } catch (error) {
        if (!isRefused(error)) throw error;
        found = null;
        return sendTo(await address())(path, init);
      }
    },
    async stop() {
      stopped = true;
      await found?.catch(() => {});
      if (own === null) return;
      await rm(addressFile, { force: true });
      await own.stop();
    },
  };
}

const SHARED_TRIES = 40;
const SHARED_PAUSE_MS = 500;
const PROBE_TIMEOUT_MS = 2_000;

async function isEngram(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const { health, version } = (await answer.json()) as { readonly health?: unknown; readonly version?: unknown };
    return typeof health === 'string' && typeof version === 'string';
  } catch {
    return false;
  }
}

/** Nobody listens there any more, so the request had no effect. */
function isRefused(error: unknown): boolean {
  return (error as { readonly cause?: { readonly code?: unknown } }).cause?.code === 'ECONNREFUSED';
}
