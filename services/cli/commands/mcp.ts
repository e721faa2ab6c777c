import { PassThrough } from 'node:stream';
import { type Command, isSet } from '../command.ts';
import { clientSettings } from '../options.ts';
import { note, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  usage: '',
  summary: 'Speaks the Model Context Protocol over standard input and output, for agents.',
  details:
    'Agents start it themselves: claude mcp add engram -- engram mcp. It speaks to the server of --url, a profile or ENGRAM_URL,\nwith its key. A running server also speaks MCP over HTTP, at /mcp.',
  options: { print: { type: 'boolean', meaning: 'only print the entry for the configuration of an agent' } },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('mcp takes no arguments. See: engram mcp --help');
    const { baseUrl, apiKey } = clientSettings(call.options, call.terminal.environment);
    if (isSet(call.options, 'print')) {
      const env = { ENGRAM_URL: baseUrl, ...(apiKey === null ? {} : { ENGRAM_API_KEY: apiKey }) };
      printJson(call, { mcpServers: { engram: { command: 'engram', args: ['mcp'], env } } });
      return exitCodes.ok;
    }
    // Agents start before servers, too: each tool says so when none answers.
    await call.api.json('GET', '/health').catch((error: unknown) => {
      if (!(error instanceof CliFailure)) throw error;
      note(call, `engram: ${error.message}`);
    });
    const { sendTo, serveStdio } = await import('../../mcp/stdio.ts');
    const input = call.terminal.input.pipe(new PassThrough());
    await serveStdio(sendTo({ url: baseUrl, apiKey }), { input, output: call.terminal.out });
    return exitCodes.ok;
  },
};
