import { engramError } from '../../common/kernel/errors.ts';
import { sha256, sha256OfJson } from '../../common/kernel/hashes.ts';
import { type Json, parseClientObject } from '../../common/kernel/json.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import {
  type ChangePage,
  type ConnectedAccount,
  type Connector,
  type OAuthSteps,
  type PresentDocument,
  permissionsByResource,
  type RawDelivery,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  SourceRevokedError,
} from './connector.ts';
import { SLACK_ENDED, type SlackApi, SlackRefusedError, verifySlack } from './slack-api.ts';
import { createSlackAudiences } from './slack-audiences.ts';
import { isSaid, peopleOf, type SlackFile, type SlackMessage, threadText, threadTitle } from './slack-text.ts';

export interface SlackOptions {
  readonly api: SlackApi;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  readonly redirectUri: string;
  readonly frontendUrl: string;
  /** Address of slack.com, or of GovSlack. */
  readonly webUrl: string;
  /** Whether standing imports start by themselves. */
  readonly syncsHistory: boolean;
}

/** What is asked for of a team's history. */
export interface HistorySelection {
  readonly dataset_id: string;
  readonly channel_ids: readonly string[];
  readonly thread_links: readonly string[];
  readonly threads: readonly SlackThread[];
  readonly oldest: string | null;
  readonly latest: string | null;
  readonly thread_mode: 'started' | 'active';
  readonly max_requests: number;
  readonly max_messages: number;
}

export type SlackThread = { readonly channel_id: string; readonly ts: string };

/** What an import into a dataset keeps in the metadata of its connection. */
export interface HistoryPlan {
  /** Asked for once, and not brought in yet. */
  readonly once: HistorySelection | null;
  readonly sync: {
    readonly enabled: boolean;
    readonly selection: HistorySelection;
    readonly interval_seconds: number;
  } | null;
}

export function planOf({ metadata }: Pick<SourceConnection, 'metadata'>): HistoryPlan {
  const { once = null, sync = null } = metadata as unknown as Partial<HistoryPlan>;
  return { once, sync };
}

/** Kind of the jobs that answer Slack: see `slack/tasks.ts`. */
export const SLACK_TASK = 'slack_task';

const SCOPES = [
  ...['commands', 'chat:write', 'im:write', 'channels:read', 'channels:history', 'groups:read', 'groups:history'],
  // Names of who speaks, files of messages, and addresses of who sees them.
  ...['users:read', 'files:read', 'users:read.email'],
];
const RETRY_AFTER_SECONDS = 600;
/** Time after which it is asked again who is in the channels, beside what events tell. */
const ACCESS_MS = 21_600_000;
/** What a resource declares is asked for so often, unless it says otherwise: what was written in the last days, and once a day all. */
const DECLARED_MS = 3_600_000;
const RECENT_MS = 7 * 86_400_000;
const WHOLE_MS = 86_400_000;
const REFUSED = 'Slack does not accept the token: put a new one into the Secret.';
const PAGE = 200;
/** Threads of one page of changes. */
const THREADS = 20;
/** A part of a thread is good for so long after its last request. */
const PART_KEPT_MS = 1_800_000;
const NAMES_KEPT_MS = 3_600_000;
const MAX_NAMES = 20_000;
const LINK = /^https:\/\/[\w.-]+\/archives\/([CG][A-Z0-9]+)\/p(\d{10})(\d{6})/;

/** The channel and thread that a link to a message names; null: it is no such link. A link to a reply names its thread. */
export function threadOfLink(link: string): SlackThread | null {
  const [, channel, seconds, micros] = LINK.exec(link) ?? [];
  if (channel === undefined) return null;
  const parent = new URL(link).searchParams.get('thread_ts');
  return { channel_id: channel, ts: parent !== null && /^\d+\.\d+$/.test(parent) ? parent : `${seconds}.${micros}` };
}

/** All threads that a selection names, by link or by channel and time. */
export function threadsOf({ thread_links: links, threads }: HistorySelection): readonly SlackThread[] {
  return [...threads, ...links.flatMap((link) => threadOfLink(link) ?? [])];
}

export interface SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly isPrivate: boolean;
}

interface ChannelsPage {
  readonly channels?: readonly { readonly id: string; readonly name?: string; readonly is_private?: boolean }[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

/** The channels that the app sees: public ones, and private ones that it was invited to. */
export async function listChannels(
  request: (method: string, parameters: object) => Promise<ChannelsPage>,
): Promise<readonly SlackChannel[]> {
  const found: SlackChannel[] = [];
  const asked = { types: 'public_channel,private_channel', exclude_archived: true, limit: PAGE };
  for (let cursor: string | undefined; ; ) {
    const page = await request('conversations.list', { ...asked, ...(cursor ? { cursor } : {}) });
    for (const { id, name = id, is_private: isPrivate = false } of page.channels ?? []) {
      found.push({ id, name, isPrivate });
    }
    cursor = page.response_metadata?.next_cursor;
    if (!cursor) return found;
  }
}

/** Channels that the owner of a team has limited the app to; empty: all. */
function allowedChannels({ metadata }: Pick<SourceConnection, 'metadata'>): readonly string[] {
  const { allowed_channel_ids: allowed } = metadata;
  return Array.isArray(allowed) ? allowed.filter((id) => typeof id === 'string') : [];
}

export function isAllowed(connection: Pick<SourceConnection, 'metadata'>, channel: string): boolean {
  const allowed = allowedChannels(connection);
  return allowed.length === 0 || allowed.includes(channel);
}

/**
 * Channels of a team: a document for each thread, and one for each file in it. Without an app, a Dataset resource can connect it,
 * with the token of a bot.
 */
export function createSlackConnector({
  api,
  app,
}: {
  readonly api: SlackApi;
  readonly app: SlackOptions | null;
}): Connector {
  const reader = createReader(api);
  const isStanding = (connection: SourceConnection) =>
    planOf(connection).sync?.enabled === true && app?.syncsHistory === true;
  return {
    provider: 'slack',
    capabilities: {
      title: 'Slack',
      feeds: ['threads'],
      selection: 'per import',
      accounts: 'exclusive',
      everyMs: ACCESS_MS,
      takesSince: true,
    },
    datasetName: () => 'slack',
    async list(access) {
      const { connection } = access;
      if (connection.declared) {
        const channels = await listChannels(async (method, parameters) =>
          api.request(method, parameters, { token: await access.token(), signal: access.signal }),
        );
        const isWithin = ({ id }: SlackChannel) => isAllowed(connection, id);
        return channels.filter(isWithin).map(({ id, name }) => ({ id, name, description: null, attributes: {} }));
      }
      const selection = selectionOf(connection);
      const named = selection === null ? [] : threadsOf(selection).map((thread) => thread.channel_id);
      const channels = new Set([...(selection?.channel_ids ?? []), ...named]);
      return [...channels].map((id) => ({ id, name: id, description: null, attributes: {} }));
    },
    changesSince: (access, { resource }, cursor) => reader.changes(access, resource, cursor),
    fetch: (access, change) => reader.fetch(access, change),
    permissionsOf: permissionsByResource(createSlackAudiences(api)),
    afterImport(connection, { isOk, now }) {
      const after = (ms: number) => ({ nextSyncAt: new Date(now.getTime() + ms).toISOString() });
      const { declared } = connection;
      if (declared) return declared.everyMs === null && declared.cron === null ? after(DECLARED_MS) : {};
      const { sync } = planOf(connection);
      const standingMs = (isOk ? (sync?.interval_seconds ?? 0) : RETRY_AFTER_SECONDS) * 1000;
      const ms = isStanding(connection) ? standingMs : ACCESS_MS;
      return { metadata: { ...connection.metadata, once: null }, ...after(ms) };
    },
    isIdle: (connection) => !connection.declared && !isStanding(connection),
    bySecret: {
      keys: ['token'],
      async connect({ address, secret, signal }) {
        if (address !== null) {
          throw engramError('InvalidRequestError', 'Slack takes no address: name channels in selection.');
        }
        return botOf(api, secret('token'), signal);
      },
    },
    ...(app === null
      ? {}
      : { verifyWebhook: async (delivery) => readEvent(app.signingSecret, delivery), oauth: oauthSteps(app) }),
  };
}

/** The account of a bot token. It is another one than the team that people connect: commands and events are not its. */
async function botOf(api: SlackApi, token: string, signal: AbortSignal): Promise<ConnectedAccount> {
  if (!token.startsWith('xoxb-')) {
    throw engramError('InvalidRequestError', 'token has to be the token of a bot, which begins with xoxb-.');
  }
  try {
    const bot = await api.request<BotAnswer>('auth.test', {}, { token, signal });
    return {
      accountId: `${bot.team_id}-${bot.user_id}`,
      label: bot.team,
      authType: 'api_key',
      scopes: [],
      metadata: { bot_user_id: bot.user_id, team_url: bot.url },
      tokens: { accessToken: token, refreshToken: null, expiresAt: null },
    };
  } catch (error) {
    throw error instanceof SourceRevokedError ? new SourceRevokedError(REFUSED, { cause: error }) : error;
  }
}

interface BotAnswer {
  readonly team: string;
  readonly team_id: string;
  readonly user_id: string;
  readonly url: string;
}

/** Connects a team by an install of the app. */
function oauthSteps({
  api,
  clientId,
  clientSecret,
  redirectUri,
  signingSecret,
  frontendUrl,
  webUrl,
}: SlackOptions): OAuthSteps {
  const exchange = async (grant: Readonly<Record<string, string>>, signal: AbortSignal): Promise<AccessAnswer> =>
    api.request('oauth.v2.access', { client_id: clientId, client_secret: clientSecret, ...grant }, { signal });
  return {
    stateSecret: signingSecret,
    frontendUrl,
    // Slack takes no code challenge from an app with a secret.
    authorizeUrl({ state }) {
      const query = new URLSearchParams({
        client_id: clientId,
        scope: SCOPES.join(','),
        redirect_uri: redirectUri,
        state,
      });
      return `${webUrl}/oauth/v2/authorize?${query}`;
    },
    async exchange({ query: { code = '' }, signal }) {
      if (code === '') throw new Error('Slack returned no code.');
      const answer = await exchange({ code, redirect_uri: redirectUri }, signal);
      const token = answer.access_token ?? '';
      const { url = null } = await api.request<{ url?: string }>('auth.test', {}, { token, signal });
      return accountOf(answer, url);
    },
    async refresh(refreshToken, signal) {
      const answer = await exchange({ grant_type: 'refresh_token', refresh_token: refreshToken }, signal);
      if (!answer.access_token || !answer.refresh_token) throw new Error('Slack returned no new pair of tokens.');
      return tokensOf(answer);
    },
    async revoke(access) {
      await api.request('auth.revoke', {}, { token: await access.token(), signal: access.signal });
    },
  };
}

/** What the import of the connection has to bring in; null: nothing. Of a resource: each chosen channel, without limits. */
function selectionOf(connection: SourceConnection, channel?: string): HistorySelection | null {
  if (connection.declared && channel !== undefined) {
    return {
      dataset_id: connection.dataset ?? '',
      channel_ids: [channel],
      thread_links: [],
      threads: [],
      oldest: connection.declared.since ?? null,
      latest: null,
      thread_mode: 'started',
      max_requests: Number.MAX_SAFE_INTEGER,
      max_messages: Number.MAX_SAFE_INTEGER,
    };
  }
  const { once, sync } = planOf(connection);
  return once ?? (sync?.enabled === true ? sync.selection : null);
}

interface AccessAnswer {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
  readonly bot_user_id?: string;
  readonly team?: { readonly id: string; readonly name: string } | null;
  readonly enterprise?: { readonly id: string; readonly name: string } | null;
  readonly authed_user?: { readonly id?: string };
}

function tokensOf({ access_token: accessToken = '', refresh_token: refresh, expires_in: seconds }: AccessAnswer) {
  const expiresAt = seconds === undefined ? null : new Date(Date.now() + seconds * 1000).toISOString();
  return { accessToken, refreshToken: refresh ?? null, expiresAt };
}

function accountOf(answer: AccessAnswer, teamUrl: string | null): ConnectedAccount {
  const account = answer.team ?? answer.enterprise;
  if (!account || !answer.access_token) throw new Error('Slack named no team, or gave no token.');
  return {
    accountId: account.id,
    label: account.name,
    authType: 'oauth2',
    tokens: tokensOf(answer),
    scopes: (answer.scope ?? '').split(',').filter((scope) => scope !== ''),
    metadata: {
      bot_user_id: answer.bot_user_id ?? null,
      enterprise_id: answer.enterprise?.id ?? null,
      installed_by_slack_user_id: answer.authed_user?.id ?? null,
      team_url: teamUrl,
    },
  };
}

interface EventPayload {
  readonly type?: string;
  readonly challenge?: string;
  readonly team_id?: string;
  readonly enterprise_id?: string | null;
  readonly is_enterprise_install?: boolean | string;
  readonly event_id?: string;
  readonly authorizations?: readonly { readonly is_enterprise_install?: boolean }[];
  readonly event?: {
    readonly type?: string;
    readonly user?: string | { readonly deleted?: boolean };
    readonly tokens?: { readonly bot?: readonly string[] };
  };
}

/** The account that a payload is about: the organisation where the app is installed for all of it. */
export function accountIdOf(
  payload: Pick<EventPayload, 'team_id' | 'enterprise_id' | 'is_enterprise_install'>,
): string {
  const isOfAll = String(payload.is_enterprise_install) === 'true';
  return (isOfAll ? payload.enterprise_id : payload.team_id) ?? payload.team_id ?? '';
}

/** Somebody, or the app, came into a channel or left it. */
const MEMBERSHIP = /^(member_joined_channel|member_left_channel|channel_left|group_left)$/;

/** What cannot be read or means nothing here says nothing. */
function readEvent(secret: string, delivery: RawDelivery) {
  verifySlack(secret, delivery, new Date());
  const payload = (parseClientObject(Buffer.from(delivery.body).toString('utf8')) ?? {}) as EventPayload;
  const { type, challenge, event = {}, event_id: id = sha256(delivery.body), authorizations } = payload;
  if (type === 'url_verification') return { id, signals: [], answer: { challenge: String(challenge ?? '') } };
  const isOfAll = payload.is_enterprise_install ?? authorizations?.[0]?.is_enterprise_install ?? false;
  const accountId = accountIdOf({ ...payload, is_enterprise_install: isOfAll });
  // A token of a person alone is none of ours.
  const isRevoked = event.type === 'tokens_revoked' && event.tokens?.bot?.length !== 0;
  if (event.type === 'app_uninstalled' || isRevoked) {
    return { id, signals: [{ kind: 'revoked' as const, accountId, reason: SLACK_ENDED }] };
  }
  const { user } = event;
  const isOfPeople = event.type === 'team_join' || (typeof user === 'object' && user.deleted === true);
  if (isOfPeople || MEMBERSHIP.test(event.type ?? '')) return { id, signals: [{ kind: 'access' as const, accountId }] };
  if (event.type !== 'app_home_opened' || typeof user !== 'string') return { id, signals: [] };
  const job = { kind: SLACK_TASK, payload: { task: 'home', slackUser: user } };
  return { id, signals: [{ kind: 'task' as const, accountId, job }] };
}

/**
 * How far a channel was read, for the selection of that hash: the first `named` of the threads that it names, and everything from
 * `before` on. Where Slack allows few requests, an import takes many attempts, and each goes through all channels: `done` is the end
 * of the import before the one that has read all of this channel. `wholeAt`: when all that a resource declares was read last.
 */
type Cursor = {
  readonly run: string;
  readonly before: string | null;
  readonly named?: number;
  readonly done?: string | null;
  readonly wholeAt?: string;
};

/** A thread that Slack asked to wait in. */
interface PartOfThread {
  readonly ts: string;
  readonly messages: SlackMessage[];
  readonly cursor: string | undefined;
  readonly untilMs: number;
}

/** Counts what the import of an access has asked Slack for, and keeps the threads of its present page. */
interface Reading {
  requests: number;
  messages: number;
  readonly threads: Map<string, readonly SlackMessage[]>;
}

interface HistoryAnswer {
  readonly messages?: readonly SlackMessage[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

function createReader(api: SlackApi) {
  const threads = createThreads(api);
  const names = createSlackNames(api);
  const fileDocument = async (access: SourceAccess, file: SlackFile): Promise<SourceDocument | null> => {
    const url = file.url_private_download ?? file.url_private ?? '';
    const content = await api.download(url, { token: await access.token(), signal: access.signal });
    if (content === null)
      throw new Error(`Slack did not give the file ${file.name ?? file.id}: the app needs files:read.`);
    const { id, name, title, mimetype = null, permalink = null } = file;
    return { fileName: name || title || id, mimeType: mimetype, content, version: id, uri: permalink };
  };

  return {
    changes: createChanges(threads),
    async fetch(access: SourceAccess, { resource, key }: PresentDocument): Promise<SourceDocument | null> {
      const [ts = '', fileId] = key.split('/');
      const messages = threads.readingOf(access).threads.get(ts) ?? (await threads.thread(access, resource, ts));
      const [first] = messages ?? [];
      if (messages === null || first === undefined) return null;
      if (fileId !== undefined) {
        const file = filesOf(messages).find(({ id }) => id === fileId);
        return file === undefined ? null : fileDocument(access, file);
      }
      const [channel, people] = await Promise.all([
        names.channel(access, resource),
        names.people(access, peopleOf(messages)),
      ]);
      const { team_url: teamUrl } = access.connection.metadata;
      return {
        fileName: `${threadTitle(messages.find(isSaid) ?? first, channel, people)}.txt`,
        mimeType: 'text/plain',
        content: Buffer.from(threadText(messages, channel, people)),
        version: versionOf(messages),
        uri: typeof teamUrl === 'string' ? `${teamUrl}archives/${resource}/p${ts.replace('.', '')}` : null,
      };
    },
  };
}

/** Reads threads of channels, within the limits of what is asked for. */
function createThreads(api: SlackApi) {
  const readings = new WeakMap<SourceAccess, Reading>();
  const readingOf = (access: SourceAccess): Reading => {
    const reading = readings.get(access) ?? { requests: 0, messages: 0, threads: new Map() };
    readings.set(access, reading);
    return reading;
  };
  const ask = async (access: SourceAccess, method: string, parameters: object): Promise<HistoryAnswer> => {
    const reading = readingOf(access);
    const selection = selectionOf(access.connection);
    if (reading.requests >= (selection?.max_requests ?? Number.POSITIVE_INFINITY)) {
      throw new Error(`It ended after ${reading.requests} requests to Slack (max_requests).`);
    }
    if (reading.messages >= (selection?.max_messages ?? Number.POSITIVE_INFINITY)) {
      throw new Error(`It ended after ${reading.messages} messages (max_messages).`);
    }
    reading.requests += 1;
    const { signal } = access;
    const answer = await api.request<HistoryAnswer>(method, parameters, { token: await access.token(), signal });
    reading.messages += answer.messages?.length ?? 0;
    return answer;
  };
  /** By connection and channel: read by attempts that had to wait, for the next one. */
  const parts = new Map<string, PartOfThread>();
  const keep = (place: string, part: Omit<PartOfThread, 'untilMs'>) => {
    for (const [kept, { untilMs }] of parts) if (untilMs < Date.now()) parts.delete(kept);
    parts.set(place, { ...part, untilMs: Date.now() + PART_KEPT_MS });
  };
  /** All messages of a thread, the first one first; null: there is none. */
  const thread = async (access: SourceAccess, channel: string, ts: string): Promise<readonly SlackMessage[] | null> => {
    const place = `${access.connection.id} ${channel}`;
    const known = parts.get(place);
    const part = known?.ts === ts && Date.now() < known.untilMs ? known : null;
    const messages = part?.messages ?? [];
    let cursor = part?.cursor;
    try {
      for (;;) {
        const asked = { channel, ts, limit: PAGE, ...(cursor ? { cursor } : {}) };
        const page = await ask(access, 'conversations.replies', asked);
        messages.push(...(page.messages ?? []).filter((one) => messages.length === 0 || one.ts !== ts));
        cursor = page.response_metadata?.next_cursor;
        if (!cursor) break;
      }
    } catch (error) {
      if (error instanceof SourceBusyError && messages.length > 0) keep(place, { ts, messages, cursor });
      if (error instanceof SlackRefusedError && /^(thread_not_found|message_not_found)$/.test(error.code)) return null;
      throw error;
    }
    if (part !== null) parts.delete(place);
    return messages.some(isSaid) ? messages : null;
  };

  /** Reads threads until Slack asks to wait; what was read until then is not lost. */
  async function readThreads(
    access: SourceAccess,
    channel: string,
    starts: readonly SlackMessage[],
    { isActive, oldest }: { readonly isActive: boolean; readonly oldest: string },
  ): Promise<{ readonly read: readonly ThreadRead[]; readonly lowest: string | null; readonly error?: unknown }> {
    const read: ThreadRead[] = [];
    let lowest: string | null = null;
    for (const start of starts) {
      const isWanted = !isActive || (start.latest_reply ?? start.ts) >= oldest;
      try {
        const messages = !isWanted ? null : start.reply_count ? await thread(access, channel, start.ts) : [start];
        if (messages !== null) read.push({ ts: start.ts, messages });
      } catch (error) {
        if (!(error instanceof SourceBusyError) || read.length === 0) throw error;
        return { read, lowest, error };
      }
      lowest = start.ts;
    }
    return { read, lowest };
  }
  return { readingOf, ask, thread, readThreads };
}

/** Changes of a channel: named threads, and those of a stretch of time. */
function createChanges({ readingOf, ask, thread, readThreads }: ReturnType<typeof createThreads>) {
  /** Threads that are named one by one, beginning with those that this import has not read. */
  async function* named(access: SourceAccess, channel: string, from: Cursor, wanted: readonly string[]) {
    for (let at = from.named ?? 0; at < wanted.length; at += 1) {
      const ts = wanted[at] as string;
      const messages = await thread(access, channel, ts);
      const covers = { from: ts, to: `${ts}0` };
      const cursor = { ...from, named: at + 1 };
      yield pageOf(readingOf(access), messages === null ? [] : [{ ts, messages }], { cursor, covers });
    }
  }

  /** The threads of a stretch of time, the last one first. A limit of Slack ends it after what was read is stored. */
  async function* stretch(access: SourceAccess, channel: string, from: Cursor, selection: HistorySelection) {
    const { wholeAt } = from;
    const isDeclared = Boolean(access.connection.declared);
    const isRecent = isDeclared && wholeAt !== undefined && Date.now() - Date.parse(wholeAt) < WHOLE_MS;
    const recentMs = isRecent ? Date.now() - RECENT_MS : 0;
    const oldest = tsOf(Math.max(recentMs, Date.parse(selection.oldest ?? '') || 0));
    // What a resource declares is all that there is to be: what is older goes.
    const floor = isDeclared && !isRecent ? '0' : oldest;
    const isActive = selection.thread_mode === 'active';
    const top = from.before ?? tsOf(selection.latest === null ? Date.now() + 60_000 : Date.parse(selection.latest));
    let upper = top;
    const asked = { channel, oldest: isActive ? '0' : oldest, latest: top, inclusive: true, limit: PAGE };
    for (let next: string | undefined, isLast = false; !isLast; ) {
      const answer = await ask(access, 'conversations.history', { ...asked, ...(next ? { cursor: next } : {}) });
      next = answer.response_metadata?.next_cursor;
      isLast = !next;
      // The bounds that Slack takes are inclusive: a stretch that goes on would begin with what it ended with.
      const starts = (answer.messages ?? []).filter((one) => isStart(one) && one.ts < top);
      const last = answer.messages?.at(-1)?.ts;
      if (starts.length === 0 && !isLast && last !== undefined && last < upper) {
        // So that an attempt that ends here does not begin with it again.
        const end = last < oldest ? oldest : last;
        yield pageOf(readingOf(access), [], { cursor: { ...from, before: last }, covers: { from: end, to: upper } });
        upper = last;
      }
      for (let at = 0; at < starts.length || (at === 0 && isLast); at += THREADS) {
        const isEnd = isLast && at + THREADS >= starts.length;
        const { read, lowest, error } = await readThreads(access, channel, starts.slice(at, at + THREADS), {
          isActive,
          oldest,
        });
        const bottom = isEnd && error === undefined ? oldest : (lowest ?? upper);
        const covered = bottom < oldest ? oldest : bottom;
        const isDone = isEnd && error === undefined;
        const end = isDone ? floor : covered;
        const covers = end < upper ? { covers: { from: end, to: upper } } : {};
        const whole = isDeclared && !isRecent ? new Date().toISOString() : wholeAt;
        const cursor = isDone ? doneOf(access, from.run, whole) : { ...from, before: bottom };
        yield pageOf(readingOf(access), read, { cursor, ...covers });
        if (error !== undefined) throw error;
        upper = bottom;
      }
    }
  }

  return async function* changes(access: SourceAccess, channel: string, cursor: Json): AsyncGenerator<ChangePage> {
    access.signal.throwIfAborted();
    const selection = selectionOf(access.connection, channel);
    if (selection === null) return;
    const run = sha256OfJson(selection);
    const stored = cursor as Cursor | null;
    const known: Cursor = stored?.run === run ? stored : { run, before: null };
    const { done, ...from } = known;
    if (done !== undefined && done === access.connection.lastSyncedAt) return;
    const threads = threadsOf(selection).filter((one) => one.channel_id === channel);
    const wanted = [...new Set(threads.map(({ ts }) => ts))];
    yield* named(access, channel, from, wanted);
    const isRead = !selection.channel_ids.includes(channel);
    if (isRead) yield pageOf(readingOf(access), [], { cursor: doneOf(access, run, from.wholeAt) });
    else yield* stretch(access, channel, { ...from, named: wanted.length }, selection);
  };
}

/** Threads that were read, as a page of changes; `fetch` finds them while the page is stored. */
function pageOf(
  reading: Reading,
  threads: readonly ThreadRead[],
  rest: Pick<ChangePage, 'cursor' | 'covers'>,
): ChangePage {
  reading.threads.clear();
  for (const { ts, messages } of threads) reading.threads.set(ts, messages);
  const present = threads.flatMap(({ ts, messages }) => [
    { key: ts, version: versionOf(messages) },
    ...filesOf(messages).map(({ id }) => ({ key: `${ts}/${id}`, version: id })),
  ]);
  const messages = threads.reduce((sum, one) => sum + one.messages.filter(isSaid).length, 0);
  return { present, gone: [], ...rest, counted: { conversations: threads.length, messages } };
}

/** The cursor of a channel that the present import has read. */
function doneOf({ connection }: SourceAccess, run: string, wholeAt: string | undefined): Cursor {
  return { run, before: null, done: connection.lastSyncedAt, ...(wholeAt !== undefined && { wholeAt }) };
}

interface ThreadRead {
  readonly ts: string;
  readonly messages: readonly SlackMessage[];
}

/** Names of people and channels, kept for an hour: an import that goes on after a wait does not ask again. */
export function createSlackNames(api: SlackApi) {
  const known = new Map<string, { readonly name: Promise<string | null>; readonly untilMs: number }>();
  const kept = (key: string, ask: () => Promise<string | null>): Promise<string | null> => {
    const before = known.get(key);
    if (before !== undefined && before.untilMs > Date.now()) return before.name;
    if (known.size >= MAX_NAMES) known.clear();
    // Slack may refuse one by one: somebody is gone, or the app lacks the scope.
    const name = ask().catch((error: unknown) => {
      if (error instanceof SlackRefusedError) return null;
      known.delete(key);
      throw error;
    });
    known.set(key, { name, untilMs: Date.now() + NAMES_KEPT_MS });
    return name;
  };
  const ask = async <T>(access: SourceAccess, method: string, parameters: object): Promise<T> =>
    api.request<T>(method, parameters, { token: await access.token(), signal: access.signal });
  return {
    async channel(access: SourceAccess, id: string): Promise<string> {
      const name = await kept(`${access.connection.accountId}:${id}`, async () => {
        const { channel } = await ask<{ channel?: { name?: string } }>(access, 'conversations.info', { channel: id });
        return channel?.name ?? null;
      });
      return name ?? id;
    },
    async people(access: SourceAccess, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
      const found = new Map<string, string>();
      for (const id of ids) {
        const name = await kept(`${access.connection.accountId}:${id}`, async () => {
          const { user } = await ask<{ user?: SlackUser }>(access, 'users.info', { user: id });
          const { real_name: real, profile, name: handle } = user ?? {};
          return [profile?.real_name, real, profile?.display_name, handle].find((one) => one?.trim()) ?? null;
        });
        if (name !== null) found.set(id, name);
      }
      return found;
    },
  };
}

interface SlackUser {
  readonly name?: string;
  readonly real_name?: string;
  readonly profile?: { readonly real_name?: string; readonly display_name?: string };
}

/** Whether a message of a channel is the first of its thread, or stands alone. */
function isStart(message: SlackMessage): boolean {
  const { ts, thread_ts: thread, reply_count: replies = 0 } = message;
  return (thread === undefined || thread === ts) && (isSaid(message) || replies > 0);
}

/** Files that may hold text. */
function filesOf(messages: readonly SlackMessage[]): readonly SlackFile[] {
  const files = messages.filter(isSaid).flatMap((message) => message.files ?? []);
  const wanted = files.filter(({ mode, mimetype = '', url_private: url }) => {
    return (
      mode !== 'tombstone' && mode !== 'hidden_by_limit' && url !== undefined && !/^(audio|video)\//.test(mimetype)
    );
  });
  return [...new Map(wanted.map((file) => [file.id, file])).values()];
}

function versionOf(messages: readonly SlackMessage[]): string {
  const said = messages.map(({ ts, user = '', username = '', text = '', edited, subtype = '', files = [] }) => {
    return [ts, user, username, text, edited?.ts ?? '', subtype, files.map(({ id }) => id).join()];
  });
  return sha256OfJson(said);
}

/** Slack's form of a time: seconds with six digits behind the point. */
function tsOf(ms: number): string {
  return (ms / 1000).toFixed(6);
}
