import { parseArgs } from 'node:util';
import type { ClientSettings } from './api-client.ts';
import type { Command, OptionDescription, OptionValues } from './command.ts';
import { type Terminal, usageFailure } from './terminal.ts';

export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  url: { type: 'string', value: 'URL', meaning: 'server, default http://127.0.0.1:8000 (ENGRAM_URL)' },
  'api-key': { type: 'string', value: 'KEY', meaning: 'API key (ENGRAM_API_KEY)' },
  dataset: { type: 'string', short: 'd', value: 'NAME', meaning: 'dataset by name or id, default main_dataset' },
  json: { type: 'boolean', meaning: "print the server's answer as JSON" },
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
    throw usageFailure(`${reason}. See: engram ${command.name} --help`);
  }
}

export function clientSettings(values: OptionValues, environment: Terminal['environment']): ClientSettings {
  const given = textOr(values['url'], environment['ENGRAM_URL'] ?? 'http://127.0.0.1:8000');
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) throw usageFailure(`--url: '${given}' is not an http address`);
  const seconds = Number(textOr(values['timeout'], '600'));
  if (!(seconds > 0)) throw usageFailure(`--timeout: '${String(values['timeout'])}' is not a number of seconds`);
  const key = textOr(values['api-key'], environment['ENGRAM_API_KEY'] ?? '');
  return {
    baseUrl: given.replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
    apiKey: key === '' ? null : key,
    timeoutMs: seconds * 1_000,
  };
}

function textOr(value: OptionValues[string], otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
