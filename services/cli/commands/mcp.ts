import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, isSet, stringOption } from '../command.ts';
import { type LocalServer, packageRoot, serverNode, startServer } from '../local-server.ts';
import { clientSettings } from '../options.ts';
import { note, printJson } from '../output.ts';
import { CliFailure, exitCodes, type Terminal, usageFailure } from '../terminal.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  usage: '[--url URL --api-key KEY | --data FOLDER]',
  summary: 'Speaks the Model Context Protocol over standard input and output, for agents.',
  details:
    'Agents start it themselves: claude mcp add engram -- engram mcp. With --url, a profile or ENGRAM_URL it speaks to that server,\nwith its key. Otherwise to the one on this machine: the one that answers at http://127.0.0.1:8000, else one that it starts\nand that several agents share. A running server also speaks MCP over HTTP, at /mcp.',
  options: {
    print: { type: 'boolean', meaning: 'only print the entry for the configuration of an agent' },
    data: {
      type: 'string',
      value: 'FOLDER',
      meaning: 'data of the server that it starts (ENGRAM_DATA_DIR), default ~/.local/share/engram',
    },
  },
  async run(call) {
    const { options, terminal, api } = call;
    if (call.arguments.length > 0) throw usageFailure('mcp takes no arguments. See: engram mcp --help');
    const { environment } = terminal;
    const { baseUrl: url, apiKey } = clientSettings(options, environment);
    const isNamed = stringOption(options, 'url') !== null || Boolean(environment['ENGRAM_URL']) || url !== DEFAULT_URL;
    const dataDir = stringOption(options, 'data');
    if (isSet(options, 'print')) {
      const env = { ...(isNamed ? { ENGRAM_URL: url } : {}), ...(apiKey === null ? {} : { ENGRAM_API_KEY: apiKey }) };
      const [command, ...script] = engramProgram(environment);
      const args = [...script, 'mcp', ...(dataDir === null ? [] : ['--data', resolve(dataDir)])];
      printJson(call, { mcpServers: { engram: { command, args, env } } });
      return exitCodes.ok;
    }
    const { sendTo, serveStdio } = await import('../../mcp/stdio.ts');
    const streams = { input: terminal.input, output: terminal.out };
    if (isNamed) {
      // Agents start before servers, too: each tool says so when none answers.
      void api.json('GET', '/health').catch((error: unknown) => {
        if (error instanceof CliFailure) note(call, `engram: ${error.message}`);
      });
      await serveStdio(sendTo({ url, apiKey }), streams);
      return exitCodes.ok;
    }
    const local = createLocalApi({
      url: `http://127.0.0.1:${environment['HTTP_API_PORT'] || 8000}`,
      dataDir: dataDir ?? agentDataFolder(environment),
      terminal,
      sendTo: (found) => sendTo({ url: found, apiKey }),
    });
    try {
      await serveStdio(local.send, streams);
    } finally {
      await local.stop();
    }
    return exitCodes.ok;
  },
};

/** Returns how an agent starts this program: by its name where it is installed, else by its file. */
function engramProgram(environment: Terminal['environment']): readonly string[] {
  const name = process.platform === 'win32' ? 'engram.cmd' : 'engram';
  // npm and npx put folders in front of the path that agents do not have.
  const folders = (environment['PATH'] ?? environment['Path'] ?? '')
    .split(delimiter)
    .filter((folder) => basename(folder) !== '.bin');
  if (folders.some((folder) => existsSync(join(folder, name)))) return ['engram'];
  return [serverNode(), join(packageRoot(), 'services/cli/engram.mjs')];
}

const DEFAULT_URL = 'http://127.0.0.1:8000';

type Send = (path: string, init: RequestInit) => Promise<Response>;

interface LocalApi {
  readonly send: Send;
  /** Ends the server, if it was started here. */
  stop(): Promise<void>;
}

interface LocalApiOptions {
  /** Where a server is looked for first. */
  readonly url: string;
  readonly dataDir: string;
  readonly terminal: Terminal;
  readonly sendTo: (url: string) => Send;
}

/** Folder of the data that the agents of a person share. */
function agentDataFolder(environment: Terminal['environment']): string {
  const { ENGRAM_DATA_DIR: given, XDG_DATA_HOME: home, HOME: person } = environment;
  return given || join(home || join(person || homedir(), '.local/share'), 'engram');
}

/**
 * The API of the server on this machine: of the one that runs, else of one that is started with the first request. Several
 * agents share one; when the one who started it ends, the next request of another one starts it again.
 */
function createLocalApi({ url, dataDir, terminal, sendTo }: LocalApiOptions): LocalApi {
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
