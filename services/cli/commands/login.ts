import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { createApiClient } from '../api-client.ts';
import { openInBrowser } from '../browser.ts';
import { type Action, type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { ask, askPassword } from '../confirm.ts';
import { group } from '../group.ts';
import { harmless, note, print, printJson } from '../output.ts';
import { chosenProfile, type Profile, profilesPath, readProfiles, writeProfiles } from '../profiles.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export const loginCommand: Command = {
  name: 'login',
  usage: '',
  summary: 'Signs in to a server and saves a key for it.',
  details:
    'In a terminal it shows a code that you approve in a browser, on any machine. With --password or --email it asks for email and\npassword (or takes ENGRAM_PASSWORD), with --api-key it takes a key that you have. The server makes an API key, and that is\nsaved, never the password, in a file that you alone can read. Later commands use the profile that was signed in to last, or\nthe one of --profile.',
  options: {
    email: { type: 'string', value: 'EMAIL', meaning: 'who signs in by password' },
    password: { type: 'boolean', meaning: 'ask for email and password here' },
    device: { type: 'boolean', meaning: 'show a code to approve in a browser, also without a terminal' },
  },
  async run(call) {
    if (call.arguments.length > 0) throw usageFailure('login takes options only. See: engram login --help');
    const { environment } = call.terminal;
    const url = call.api.baseUrl;
    const name = nameGiven(call) ?? 'default';
    const apiKey = stringOption(call.options, 'api-key') ?? (await makeKey(call, await signIn(call)));
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

/** Returns a login token: by a code where a person sits or wants it, else by the password. */
async function signIn(call: CommandCall): Promise<string> {
  const { options, terminal, api } = call;
  const byDevice = isSet(options, 'device');
  const byPassword =
    isSet(options, 'password') ||
    stringOption(options, 'email') !== null ||
    (terminal.environment['ENGRAM_PASSWORD'] ?? '') !== '';
  if (byDevice && isSet(options, 'password')) throw usageFailure('Give --device or --password, not both.');
  if (!byDevice && (byPassword || !terminal.isInteractive)) return tokenByPassword(call);
  const metadata = await send(call, '/.well-known/oauth-authorization-server');
  const { device_authorization_endpoint: start = null } = metadata.ok ? ((await metadata.json()) as Metadata) : {};
  if (start !== null) return tokenByDevice(call);
  if (byDevice) throw new CliFailure(`${api.baseUrl} does not sign in devices: use --password.`, exitCodes.failed);
  return tokenByPassword(call);
}

interface Metadata {
  readonly device_authorization_endpoint?: string;
}

interface DeviceCodes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** Address that is given to a program of the desktop: the server must not be able to put more into it. */
const PAGE = /^https?:\/\/[\w.:/[\]-]+\?user_code=[A-Z-]+$/;

/** OAuth device authorization (RFC 8628): a person approves in a browser while this asks again and again. */
async function tokenByDevice(call: CommandCall): Promise<string> {
  const { terminal, api } = call;
  const client = { client_id: 'engram-cli' };
  const begun = await send(call, '/api/v1/auth/device/code', { ...client, device_name: hostname() });
  if (!begun.ok) throw notSignedIn(api.baseUrl, begun);
  const codes = (await begun.json()) as DeviceCodes;
  terminal.err.write(
    `Open ${harmless(codes.verification_uri_complete)}\nin a browser, on any machine, and approve if it shows the code  ${harmless(codes.user_code)}\n`,
  );
  if (terminal.isInteractive && PAGE.test(codes.verification_uri_complete))
    openInBrowser(codes.verification_uri_complete);
  const stopListening = terminal.onInterrupt?.(() =>
    terminal.err.write('Nothing was saved. The code ends by itself; deny it on the page to end it now.\n'),
  );
  try {
    const request = { ...client, grant_type: DEVICE_GRANT, device_code: codes.device_code };
    for (let seconds = codes.interval; ; ) {
      await setTimeout(seconds * 1_000);
      const answer = await send(call, '/api/v1/auth/oauth/token', request).catch(() => null);
      if (answer?.ok) return ((await answer.json()) as { readonly access_token: string }).access_token;
      const error = answer === null ? 'no_answer' : await errorOf(answer);
      // A connection that fails once is tried again less often (RFC 8628 §3.5).
      if (error === 'slow_down' || answer === null || answer.status >= 429) seconds += 5;
      else if (error === 'access_denied') throw new CliFailure('The sign-in was denied.', exitCodes.failed);
      else if (error !== 'authorization_pending') {
        throw new CliFailure('The code has expired. Give the command again for another.', exitCodes.failed);
      }
    }
  } finally {
    stopListening?.();
  }
}

async function errorOf(answer: Response): Promise<unknown> {
  return ((await answer.json().catch(() => ({}))) as { readonly error?: unknown }).error;
}

async function tokenByPassword(call: CommandCall): Promise<string> {
  const { terminal, api } = call;
  const saved = terminal.environment['ENGRAM_PASSWORD'] ?? '';
  const email = stringOption(call.options, 'email') ?? (terminal.isInteractive ? await ask(call, 'Email: ') : '');
  if (email === '') throw usageFailure('Who signs in? Give --email, or --device to approve in a browser.');
  if (saved === '' && !terminal.isInteractive) {
    throw usageFailure('No terminal to ask for the password on: set ENGRAM_PASSWORD, or give --device or --api-key.');
  }
  const password = await askPassword(call, 'ENGRAM_PASSWORD');
  const response = await send(call, '/api/v1/auth/login', { username: email, password });
  if (!response.ok) throw notSignedIn(api.baseUrl, response);
  return ((await response.json()) as { readonly access_token: string }).access_token;
}

function notSignedIn(url: string, { status }: Response): CliFailure {
  const reason = status === 429 ? 'too many attempts, try later' : 'email or password is wrong';
  return new CliFailure(`${url} did not sign you in (${status}): ${reason}.`, exitCodes.failed);
}

/** Makes an API key with a login token, which ends with that. */
async function makeKey({ api }: CommandCall, token: string): Promise<string> {
  const authorization = `Bearer ${token}`;
  const made = await fetch(`${api.baseUrl}/api/v1/auth/api-keys`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `engram on ${hostname()}` }),
  });
  const signOut = { method: 'POST', headers: { authorization } };
  await fetch(`${api.baseUrl}/api/v1/auth/logout`, signOut).catch(() => undefined);
  if (!made.ok) throw new CliFailure(`${api.baseUrl} made no key (${made.status}).`, exitCodes.failed);
  return ((await made.json()) as { readonly key: string }).key;
}

/** Sends a form, or reads when there is none, without credentials. */
async function send({ api }: CommandCall, path: string, form?: Readonly<Record<string, string>>): Promise<Response> {
  try {
    const request = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    return await fetch(`${api.baseUrl}${path}`, { ...request, signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    const message = `No Engram server answers at ${api.baseUrl}. Check --url.`;
    throw new CliFailure(message, exitCodes.unreachable, { cause: error });
  }
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
