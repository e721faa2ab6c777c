import { openInBrowser } from '../browser.ts';
import { type Command, isSet, stringOption } from '../command.ts';
import { runServer } from '../local-server.ts';
import { note, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';

export const serveCommand: Command = {
  name: 'serve',
  usage: '[--port NUMBER] [--host ADDRESS] [--data FOLDER]',
  summary: 'Starts the server; its data are in ./data unless --data says else.',
  options: {},
  takesAll: true,
  run: ({ arguments: args, terminal }) => runServer(args, terminal),
};

export const upgradeCommand: Command = {
  name: 'upgrade',
  usage: '[--data FOLDER]',
  summary: 'Brings the data of an older release up to date, while no server runs on them.',
  options: {
    data: { type: 'string', value: 'FOLDER', meaning: 'folder of all data (ENGRAM_DATA_DIR), default ./data' },
  },
  run({ arguments: args, options, terminal }) {
    if (args.length > 0) throw usageFailure('upgrade takes no arguments. See: engram upgrade --help');
    const data = stringOption(options, 'data');
    return runServer(['migrate', ...(data === null ? [] : ['--data', data])], terminal);
  },
};

export const uiCommand: Command = {
  name: 'ui',
  usage: '',
  summary: 'Opens the console of the server in the browser.',
  options: { 'no-open': { type: 'boolean', meaning: 'only print the address' } },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('ui takes no arguments. See: engram ui --help');
    await call.api.json('GET', '/health');
    const address = `${call.api.baseUrl}/`;
    if (!isSet(call.options, 'no-open')) openInBrowser(address);
    if (call.asJson) printJson(call, { url: address });
    else print(call, address);
    if (!isSet(call.options, 'no-open')) note(call, 'If no browser opens, open that address yourself.');
    return exitCodes.ok;
  },
};
