import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { nearestOf } from '../common/kernel/nearest.ts';

const COMMANDS = ['serve', 'migrate', 'cluster'] as const;

export interface StartArguments {
  readonly command: (typeof COMMANDS)[number];
  /** Variables of the configuration that the options stand for. */
  readonly variables: Readonly<Record<string, string>>;
  /** Processes of each service, of `cluster`. */
  readonly replicas: number;
  readonly isHelp: boolean;
}

/** The command line is wrong; the message says how it is right. */
export class StartArgumentsError extends Error {
  override readonly name = 'StartArgumentsError';
}

const OPTIONS = {
  port: { type: 'string', short: 'p' },
  host: { type: 'string' },
  data: { type: 'string' },
  replicas: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Variables by the option that sets them. */
const VARIABLES = { port: 'HTTP_API_PORT', host: 'HTTP_API_HOST', data: 'ENGRAM_DATA_DIR' } as const;

export const START_HELP = `Usage: npm start -- [options]        (installed: engram serve [options])

Starts the server on 127.0.0.1:8000 with its data in ./data.

Options:
  -p, --port NUMBER   port, 0 for any free one (HTTP_API_PORT)
      --host ADDRESS  address to listen on; any but loopback requires authentication (HTTP_API_HOST)
      --data FOLDER   folder of all data (ENGRAM_DATA_DIR)
  -h, --help          print this

Also: npm run migrate               bring the data of an older release up to date
      npm run cluster -- --replicas 2    six services on servers of their own
      npm run config                every setting, as environment variables or lines of a .env file

Ctrl-C or SIGTERM ends the server when its requests are answered.
`;

/** Paths of options are relative to `directory`. Throws `StartArgumentsError`. */
export function readStartArguments(args: readonly string[], directory: string): StartArguments {
  const { values, positionals } = parse(args);
  const [command = 'serve', ...more] = positionals;
  if (!isCommand(command)) {
    throw new StartArgumentsError(`There is no command "${command}": leave it out, or use "migrate" or "cluster".`);
  }
  if (more.length > 0) throw new StartArgumentsError(`"${more[0]}" is one word too many: see --help.`);
  const { replicas } = values;
  if (replicas !== undefined && (command !== 'cluster' || !/^[1-9]\d{0,2}$/.test(replicas))) {
    throw new StartArgumentsError('--replicas: a number of processes, 1 to 999, of npm run cluster only.');
  }
  const variables = Object.entries(VARIABLES).flatMap(([option, variable]) => {
    const value = values[option as keyof typeof VARIABLES];
    if (value === '') throw new StartArgumentsError(`--${option} needs a value: see --help.`);
    return value === undefined ? [] : [[variable, option === 'data' ? resolve(directory, value) : value]];
  });
  return {
    command,
    variables: Object.fromEntries(variables),
    replicas: Number(replicas ?? 1),
    isHelp: values.help === true,
  };
}

/** The message with the options in place of the variables that they set. */
export function namingOptions(message: string, { variables }: Pick<StartArguments, 'variables'>): string {
  return Object.entries(VARIABLES).reduce(
    (text, [option, variable]) => (variable in variables ? text.replaceAll(`${variable}:`, `--${option}:`) : text),
    message,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const reason = (error as Error).message.split('. ')[0]?.split('\n')[0] ?? '';
    const unknown = /^Unknown option '--?([\w-]+)'/.exec(reason)?.[1];
    const meant = unknown === undefined ? null : nearestOf(unknown, Object.keys(OPTIONS));
    throw new StartArgumentsError(`${reason}.${meant === null ? '' : ` Did you mean --${meant}?`}\n\n${START_HELP}`);
  }
}

function isCommand(word: string): word is StartArguments['command'] {
  return (COMMANDS as readonly string[]).includes(word);
}
