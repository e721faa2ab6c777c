import { hostname } from 'node:os';
import { createApiClient } from '../api-client.ts';
import { type Action, type Command, type CommandCall, stringOption } from '../command.ts';
import { ask } from '../confirm.ts';
import { group } from '../group.ts';
import { note, print, printJson } from '../output.ts';
import { chosenProfile, type Profile, profilesPath, readProfiles, writeProfiles } from '../profiles.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';

export const loginCommand: Command = {
  name: 'login',
  usage: '',
  summary: 'Signs in to a server and saves a key for it.',
  details:
    'Asks for email and password (or takes ENGRAM_PASSWORD), has the server make an API key, and saves that, never the password.\nWith --api-key a key that you have is checked and saved. The file can be read by you alone. Later commands use the profile\nthat was signed in to last, or the one of --profile.',
  options: { email: { type: 'string', value: 'EMAIL', meaning: 'who signs in' } },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('login takes options only. See: engram login --help');
    const { environment } = call.terminal;
    const url = call.api.baseUrl;
    const name = nameGiven(call) ?? 'default';
    const given = stringOption(call.options, 'api-key');
    const apiKey = given ?? (await keyByPassword(call));
    const api = createApiClient({ baseUrl: url, apiKey, timeoutMs: 60_000 });
    const { email } = await api.json<{ readonly email: string }>('GET', '/api/v1/users/me');
    const { profiles } = readProfiles(environment);
    writeProfiles(environment, { current: name, profiles: { ...profiles, [name]: { url, apiKey } } });
    if (call.asJson) printJson(call, { profile: name, url, email });
    else print(call, `signed in to ${url} as ${email}, profile ${name}`);
    note(call, `saved in ${profilesPath(environment)}`);
    return exitCodes.ok;
  },
};

function nameGiven(call: CommandCall): string | null {
  return stringOption(call.options, 'profile') ?? (call.terminal.environment['ENGRAM_PROFILE'] || null);
}

async function keyByPassword(call: CommandCall): Promise<string> {
  const { terminal, api } = call;
  const saved = terminal.environment['ENGRAM_PASSWORD'] ?? '';
  const email = stringOption(call.options, 'email') ?? (terminal.isInteractive ? await ask(call, 'Email: ') : '');
  if (email === '') throw usageFailure('Who signs in? Give --email.');
  if (saved === '' && !terminal.isInteractive) {
    throw usageFailure('No terminal to ask for the password on: set ENGRAM_PASSWORD, or give --api-key.');
  }
  const password = saved === '' ? await ask(call, 'Password: ', { isSecret: true }) : saved;
  const response = await fetch(`${api.baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    body: new URLSearchParams({ username: email, password }),
  }).catch(() => null);
  if (response === null) {
    throw new CliFailure(`No Engram server answers at ${api.baseUrl}. Check --url.`, exitCodes.unreachable);
  }
  if (!response.ok) {
    const reason = response.status === 429 ? 'too many attempts, try later' : 'email or password is wrong';
    throw new CliFailure(`${api.baseUrl} did not sign you in (${response.status}): ${reason}.`, exitCodes.failed);
  }
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  const made = await fetch(`${api.baseUrl}/api/v1/auth/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `engram on ${hostname()}` }),
  });
  if (!made.ok) throw new CliFailure(`${api.baseUrl} made no key (${made.status}).`, exitCodes.failed);
  return ((await made.json()) as { readonly key: string }).key;
}

export const logoutCommand: Command = {
  name: 'logout',
  usage: '',
  summary: 'Revokes the key of a profile and forgets it.',
  options: {},
  async run(call) {
    const { environment } = call.terminal;
    const { current, profiles } = readProfiles(environment);
    const name = nameGiven(call) ?? current;
    const profile = chosenProfile(environment, name);
    if (name === null || profile === null) {
      note(call, 'nobody is signed in');
      return exitCodes.ok;
    }
    const isRevoked = await revoke(profile).catch(() => false);
    const rest = Object.fromEntries(Object.entries(profiles).filter(([other]) => other !== name));
    writeProfiles(environment, { current: current === name ? null : current, profiles: rest });
    print(call, `signed out of ${profile.url}, profile ${name}`);
    if (!isRevoked) note(call, 'The key could not be revoked: see engram keys, there.');
    return exitCodes.ok;
  },
};

/** Keys are listed by their masked form only, which holds their first and last letters. */
async function revoke({ url, apiKey }: Profile): Promise<boolean> {
  if (apiKey === null) return true;
  const api = createApiClient({ baseUrl: url, apiKey, timeoutMs: 30_000 });
  const keys = await api.json<readonly { id: string; label: string }[]>('GET', '/api/v1/auth/api-keys');
  const own = keys.filter(({ label }) => {
    const [start = '', end = ''] = label.split(/[*.…]+/);
    return label !== '' && start !== '' && apiKey.startsWith(start) && apiKey.endsWith(end);
  });
  if (own.length !== 1 || own[0] === undefined) return false;
  await api.json('DELETE', `/api/v1/auth/api-keys/${own[0].id}`);
  return true;
}

const profiles: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the profiles; * marks the current one.',
    request: ({ terminal: { environment } }) => {
      const { current, profiles: all } = readProfiles(environment);
      const rows = Object.entries(all).map(([name, { url }]) => ({ name, url, current: name === current ? '*' : '' }));
      return Promise.resolve(rows);
    },
  },
  {
    name: 'use',
    parameters: '<name>',
    summary: 'Makes a profile the current one.',
    request: (call) => {
      const { environment } = call.terminal;
      const [name = ''] = call.arguments;
      const profile = chosenProfile(environment, name);
      writeProfiles(environment, { ...readProfiles(environment), current: name });
      return Promise.resolve({ current: name, url: profile?.url });
    },
  },
];

export const profilesCommand = group('profiles', 'Servers that you signed in to: list, use.', profiles);
