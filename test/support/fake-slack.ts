import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closed, startServer } from './listening.ts';

interface FakeMessage {
  ts: string;
  user: string;
  text: string;
  subtype?: string;
  thread_ts?: string;
  edited?: { user: string; ts: string };
  files?: object[];
}

interface FakePerson {
  readonly email: string;
  isConfirmed?: boolean;
  isGuest?: boolean;
  isDeleted?: boolean;
}

export interface FakeChannel {
  readonly id: string;
  readonly name: string;
  readonly isPrivate: boolean;
  /** The app was invited. */
  isMember: boolean;
  readonly messages: FakeMessage[];
  /** Ids of people. */
  readonly members: Set<string>;
}

export type FakeSlack = Awaited<ReturnType<typeof startFakeSlack>>;
type Form = Readonly<Record<string, string>>;
type Answer = { readonly status?: number; readonly headers?: object; readonly body: object | Buffer };

const UNLISTED: ReadonlySet<string> = new Set(['conversations.history', 'conversations.replies']);
const TEAM = { id: 'T0ENGINE', name: 'Analytical Engines' };
const CLIENT = { id: '11.22', secret: 'client-secret' };
export const INSTALLER = 'U0ADA';

/** Slack's Web API on this machine: OAuth with rotated tokens, cursors, `ok: false`, 429 with Retry-After, signed requests. */
export async function startFakeSlack() {
  const signingSecret = randomUUID();
  const channels: FakeChannel[] = [];
  const users = new Map([
    [INSTALLER, 'Ada Berg'],
    ['U0TOM', 'Tom Okoye'],
  ]);
  /** What is known of people beyond their names. */
  const people = new Map<string, FakePerson>();
  const files = new Map<string, string>();
  const codes = new Set<string>();
  const tokens = new Map<string, number>();
  const refreshTokens = new Set<string>();
  const requests: string[] = [];
  const responses: { readonly id: string; readonly message: Record<string, unknown> }[] = [];
  const views: { readonly method: string; readonly view: Record<string, unknown> }[] = [];
  const state = {
    /** The app was uninstalled. */
    isGone: false,
    /** Calls of a method that are answered before its limit is reached. */
    remaining: new Map<string, number>(),
    retryAfterSeconds: 1,
    tokenLifeSeconds: null as number | null,
    pageSize: 200,
    /** The app is sold outside of the Marketplace: history and replies once a minute each, with 15 objects. */
    isUnlisted: false,
    /** Of those, the methods that were called in the present minute. */
    called: new Set<string>(),
    scopes: 'commands,chat:write,users:read,users:read.email,files:read',
  };

  const refused = (error: string): Answer => ({ body: { ok: false, error } });
  const issued = (): object => {
    const token = `xoxb-${randomUUID()}`;
    const life = state.tokenLifeSeconds;
    tokens.set(token, Date.now() + (life ?? 1e6) * 1000);
    if (life === null) return { access_token: token };
    const refresh = `xoxe-1-${randomUUID()}`;
    refreshTokens.add(refresh);
    return { access_token: token, refresh_token: refresh, expires_in: life };
  };
  const access = (form: Form): Answer => {
    if (form['client_id'] !== CLIENT.id || form['client_secret'] !== CLIENT.secret) return refused('bad_client_secret');
    const isRefresh = form['grant_type'] === 'refresh_token';
    if (isRefresh && !refreshTokens.delete(form['refresh_token'] ?? '')) return refused('invalid_refresh_token');
    if (!isRefresh && !codes.delete(form['code'] ?? '')) return refused('invalid_code');
    const facts = { scope: state.scopes, bot_user_id: 'U0BOT', app_id: 'A0', token_type: 'bot' };
    const team = { team: TEAM, enterprise: null, is_enterprise_install: false, authed_user: { id: INSTALLER } };
    return { body: { ok: true, ...issued(), ...facts, ...team } };
  };
  const paged = <T>(name: string, items: readonly T[], { limit = '100', cursor = '' }: Form): Answer => {
    const at = cursor === '' ? 0 : Number(Buffer.from(cursor, 'base64').toString().split(':')[1]);
    const size = Math.min(Number(limit), state.pageSize, state.isUnlisted && name === 'messages' ? 15 : 1000);
    const hasMore = at + size < items.length;
    const next = hasMore ? Buffer.from(`next:${at + size}`).toString('base64') : '';
    const page = { [name]: items.slice(at, at + size), has_more: hasMore, response_metadata: { next_cursor: next } };
    return { body: { ok: true, ...page } };
  };
  const shown = (channel: FakeChannel, message: FakeMessage): object => {
    const replies = channel.messages.filter((one) => one.thread_ts === message.ts && one.ts !== message.ts);
    const thread = { thread_ts: message.ts, reply_count: replies.length, latest_reply: replies.at(-1)?.ts };
    return { type: 'message', ...message, ...(replies.length > 0 ? thread : {}) };
  };
  const conversation = (method: string, form: Form): Answer => {
    const channel = channels.find(({ id }) => id === form['channel']);
    if (channel === undefined || (channel.isPrivate && !channel.isMember)) return refused('channel_not_found');
    const { id, name, isPrivate, messages } = channel;
    if (method === 'conversations.info') return { body: { ok: true, channel: { id, name, is_private: isPrivate } } };
    if (method === 'conversations.members') return paged('members', [...channel.members], form);
    if (!channel.isMember) return refused('not_in_channel');
    const sorted = messages.toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
    if (method === 'conversations.replies') {
      const thread = sorted.filter(({ ts, thread_ts: of }) => ts === form['ts'] || of === form['ts']);
      if (thread.length === 0) return refused('thread_not_found');
      return paged(
        'messages',
        thread.map((one) => shown(channel, one)),
        form,
      );
    }
    const { oldest = '0', latest = '9', inclusive } = form;
    const isIn = ({ ts }: FakeMessage) =>
      inclusive === 'true' ? ts >= oldest && ts <= latest : ts > oldest && ts < latest;
    const top = sorted.filter((one) => isIn(one) && (one.thread_ts === undefined || one.thread_ts === one.ts));
    return paged(
      'messages',
      top.toReversed().map((one) => shown(channel, one)),
      form,
    );
  };
  /** Addresses are left out without their scope. */
  const personOf = (id: string): object => {
    const name = users.get(id) ?? '';
    const { email, isConfirmed = true, isGuest = false, isDeleted = false } = people.get(id) ?? {};
    const isTold = email !== undefined && state.scopes.split(',').includes('users:read.email');
    return {
      id,
      name: name.toLowerCase().split(' ')[0],
      deleted: isDeleted,
      is_bot: false,
      is_restricted: isGuest,
      is_ultra_restricted: false,
      is_email_confirmed: isConfirmed,
      profile: { real_name: name, ...(isTold ? { email } : {}) },
    };
  };
  const call = (method: string, form: Form, token: string): Answer => {
    if (method === 'oauth.v2.access') return access(form);
    if (state.isGone) return refused('token_revoked');
    if ((tokens.get(token) ?? 0) < Date.now()) return refused(tokens.has(token) ? 'token_expired' : 'invalid_auth');
    const left = state.remaining.get(method);
    if (left !== undefined) {
      if (left <= 0) {
        const headers = { 'retry-after': String(state.retryAfterSeconds) };
        return { status: 429, headers, body: { ok: false, error: 'ratelimited' } };
      }
      state.remaining.set(method, left - 1);
    }
    if (state.isUnlisted && UNLISTED.has(method)) {
      if (state.called.has(method)) {
        return { status: 429, headers: { 'retry-after': '60' }, body: { ok: false, error: 'ratelimited' } };
      }
      state.called.add(method);
    }
    if (method === 'auth.test') {
      const bot = { team: TEAM.name, team_id: TEAM.id, user: 'engram', user_id: 'U0BOT', bot_id: 'B0BOT' };
      return { body: { ok: true, url: 'https://engines.slack.com/', ...bot, is_enterprise_install: false } };
    }
    if (method === 'auth.revoke') return { body: { ok: true, revoked: tokens.delete(token) } };
    if (method === 'conversations.list') {
      const seen = channels.filter(({ isPrivate, isMember }) => !isPrivate || isMember);
      const list = seen.map(({ id, name, isPrivate, isMember }) => ({
        id,
        name,
        is_private: isPrivate,
        is_member: isMember,
      }));
      return paged('channels', list, form);
    }
    if (method.startsWith('conversations.')) return conversation(method, form);
    if (/^users\.(info|list)$/.test(method) && !state.scopes.split(',').includes('users:read'))
      return refused('missing_scope');
    if (method === 'users.list') return paged('members', [...users.keys()].map(personOf), form);
    if (method === 'users.info') {
      return users.has(form['user'] ?? '')
        ? { body: { ok: true, user: personOf(form['user'] ?? '') } }
        : refused('user_not_found');
    }
    if (method === 'views.open' || method === 'views.publish') {
      if (method === 'views.open' && !form['trigger_id']) return refused('invalid_trigger_id');
      views.push({ method, view: JSON.parse(form['view'] ?? '{}') as Record<string, unknown> });
      return { body: { ok: true } };
    }
    return refused('unknown_method');
  };

  const answer = (request: IncomingMessage, body: string): Answer => {
    const path = new URL(request.url ?? '', 'http://slack.test').pathname;
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (path.startsWith('/respond/')) {
      responses.push({ id: path.slice('/respond/'.length), message: JSON.parse(body) as Record<string, unknown> });
      return { body: Buffer.from('ok') };
    }
    if (path.startsWith('/files/')) {
      const text = files.get(path.slice('/files/'.length));
      if (text !== undefined && tokens.has(token))
        return { headers: { 'content-type': 'text/plain' }, body: Buffer.from(text) };
      return { headers: { 'content-type': 'text/html' }, body: Buffer.from('<title>Sign in</title>') };
    }
    const method = path.replace('/api/', '');
    requests.push(method);
    return call(method, Object.fromEntries(new URLSearchParams(body)), token);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await buffer(request);
    const { status = 200, headers = {}, body } = answer(request, sent.toString());
    const isBytes = Buffer.isBuffer(body);
    response.writeHead(status, {
      ...(isBytes ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      ...headers,
    });
    response.end(isBytes ? body : JSON.stringify(body));
  };
  const { server, url } = await startServer(serve);

  /** Sends a request as Slack signs it. */
  const deliver = async (
    address: string,
    body: string,
    {
      type,
      secret = signingSecret,
      ageSeconds = 0,
    }: { readonly type: string; readonly secret?: string; readonly ageSeconds?: number },
  ): Promise<Response> => {
    const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
    const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
    const signed = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
    return fetch(address, { method: 'POST', body, headers: { 'content-type': type, ...signed } });
  };
  const form = { type: 'application/x-www-form-urlencoded' };
  const event = (baseUrl: string, payload: object, id: string, options: object = {}, path = '/slack/events') =>
    deliver(
      `${baseUrl}/api/v1${path}`,
      JSON.stringify({ team_id: TEAM.id, type: 'event_callback', event_id: id, ...payload }),
      {
        type: 'application/json',
        ...options,
      },
    );
  return {
    url,
    team: TEAM,
    channels,
    users,
    people,
    files,
    requests,
    responses,
    views,
    state,
    signingSecret,
    event,
    /** Variables of a server that uses it. */
    variables: {
      SLACK_CLIENT_ID: CLIENT.id,
      SLACK_CLIENT_SECRET: CLIENT.secret,
      SLACK_SIGNING_SECRET: signingSecret,
      SLACK_FRONTEND_BASE_URL: 'http://console.test',
      ENGRAM_SLACK_URL: url,
      SLACK_REDIRECT_URI: 'http://memory.test/api/v1/integrations/slack/callback',
    },
    options: { clientId: CLIENT.id, clientSecret: CLIENT.secret, signingSecret, webUrl: url },
    add(name: string, { isPrivate = false, isMember = true } = {}): FakeChannel {
      const channel = {
        id: `C0${name.toUpperCase()}`,
        name,
        isPrivate,
        isMember,
        messages: [],
        members: new Set<string>(),
      };
      channels.push(channel);
      return channel;
    },
    /** The person allows the app: the query that Slack sends the browser back with. */
    install(signedState: string): URLSearchParams {
      const code = randomUUID();
      codes.add(code);
      return new URLSearchParams({ code, state: signedState });
    },
    /** Somebody writes a slash command; `id` names the address for what comes later. */
    async command(
      baseUrl: string,
      text: string,
      fields: Form = {},
    ): Promise<{ readonly id: string; readonly response: Response }> {
      const [command = '', ...words] = text.split(' ');
      const id = randomUUID();
      const facts = { team_id: TEAM.id, channel_id: 'C0ENGINE', channel_name: 'engine', user_id: INSTALLER };
      const said = { command, text: words.join(' '), trigger_id: id, response_url: `${url}/respond/${id}` };
      const body = new URLSearchParams({ ...facts, ...said, ...fields }).toString();
      return { id, response: await deliver(`${baseUrl}/api/v1/slack/commands`, body, form) };
    },
    /** A shortcut, a button or a dialog. */
    async interact(baseUrl: string, payload: object): Promise<{ readonly id: string; readonly response: Response }> {
      const id = randomUUID();
      const facts = {
        team: { id: TEAM.id },
        user: { id: INSTALLER },
        trigger_id: id,
        response_url: `${url}/respond/${id}`,
      };
      const body = new URLSearchParams({ payload: JSON.stringify({ ...facts, ...payload }) }).toString();
      return { id, response: await deliver(`${baseUrl}/api/v1/slack/interactive`, body, form) };
    },
    deliver,
    /** A bot token, without an install. */
    token: (): string => (issued() as { readonly access_token: string }).access_token,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** A time of Slack. */
export function tsAt(time: string, micros = 0): string {
  return `${Math.floor(Date.parse(time) / 1000)}.${String(micros).padStart(6, '0')}`;
}
