import { existsSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { type Command, isSet, stringOption } from '../command.ts';
import { agentDataFolder, createLocalApi } from '../local-api.ts';
import { packageRoot, serverNode } from '../local-server.ts';
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
