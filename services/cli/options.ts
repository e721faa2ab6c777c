import { parseArgs } from 'node:util';
import { nearestOf } from '../common/kernel/nearest.ts';
import type { ClientSettings } from './api-client.ts';
import type { Command, OptionDescription, OptionValues } from './command.ts';
import { chosenProfile } from './profiles.ts';
import { type Terminal, usageFailure } from './terminal.ts';
import { webAddress } from './web-address.ts';

export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  url: { type: 'string', value: 'URL', meaning: 'server, default http://127.0.0.1:8000 (ENGRAM_URL)' },
  'api-key': { type: 'string', value: 'KEY', meaning: 'API key (ENGRAM_API_KEY)' },
  dataset: { type: 'string', short: 'd', value: 'NAME', meaning: 'dataset by name or id, default main_dataset' },
  json: { type: 'boolean', meaning: "print the server's answer as JSON" },
  quiet: { type: 'boolean', short: 'q', meaning: 'no progress and no notes, only the answer and errors' },
  yes: { type: 'boolean', short: 'y', meaning: 'do not ask before something is deleted' },
  profile: { type: 'string', value: 'NAME', meaning: 'server and key saved by engram login (ENGRAM_PROFILE)' },
  timeout: { type: 'string', value: 'SECONDS', meaning: 'give up on one request after this time, default 600' },
  help: { type: 'boolean', short: 'h', meaning: 'print this' },
};

export function parseCommandLine(
  command: Command,
  args: readonly string[],
): { readonly values: OptionValues; readonly positionals: string[] } {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }> = {};
  for (const [name, { type, short, multiple }] of Object.entries({ ...commonOptions, ...command.options })) {
    options[name] = {
      type,
      ...(short === undefined ? {} : { short }),
      ...(multiple === undefined ? {} : { multiple }),
    };
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('. ')[0] ?? error.message) : String(error);
    const unknown = /^Unknown option '--([\w-]+)'/.exec(reason)?.[1];
    const meant = unknown === undefined ? null : nearestOf(unknown, Object.keys(options));
    const hint = meant === null ? '' : ` Did you mean --${meant}?`;
    throw usageFailure(`${reason}.${hint} See: engram ${command.name} --help`);
  }
}

export const DEFAULT_SERVER: ClientSettings = { baseUrl: 'http://127.0.0.1:8000', apiKey: null, timeoutMs: 600_000 };

/** A flag, else the environment, else the profile of `engram login`, else the default. */
export function clientSettings(
  values: OptionValues,
  environment: Terminal['environment'],
  /** The profile that is named may be made only now. */
  { isNewProfile = false } = {},
): ClientSettings {
  const named = textOr(values['profile'], environment['ENGRAM_PROFILE'] ?? '');
  const profile = isNewProfile ? null : chosenProfile(environment, named === '' ? null : named);
  const given = textOr(values['url'], environment['ENGRAM_URL'] || (profile?.url ?? DEFAULT_SERVER.baseUrl));
  const url = webAddress(given);
  if (url === null || !/^https?:$/.test(url.protocol)) throw usageFailure(`--url: '${given}' is not an http address`);
  const seconds = Number(textOr(values['timeout'], '600'));
  if (!(seconds > 0)) throw usageFailure(`--timeout: '${String(values['timeout'])}' is not a number of seconds`);
  const baseUrl = baseUrlOf(given);
  // A key goes to the server that it was made by, never to another one.
  const saved = profile !== null && profile.url === baseUrl ? (profile.apiKey ?? '') : '';
  const key = textOr(values['api-key'], environment['ENGRAM_API_KEY'] || saved);
  return { baseUrl, apiKey: key === '' ? null : key, timeoutMs: seconds * 1_000 };
}

/** Without trailing slashes and without the path of the API. */
function baseUrlOf(address: string): string {
  return address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function textOr(value: OptionValues[string], otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
