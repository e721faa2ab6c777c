import { engramError } from '../../common/kernel/errors.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import {
  type ConnectedAccount,
  type Connector,
  type OAuthSteps,
  permissionsByResource,
  SourceRevokedError,
} from './connector.ts';
import type { SlackApi } from './slack-api.ts';
import { createSlackAudiences } from './slack-audiences.ts';
import { readEvent } from './slack-events.ts';
import { isAllowed, planOf, selectionOf, threadsOf } from './slack-selection.ts';
import { createThreadReader } from './slack-threads.ts';

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
const REFUSED = 'Slack does not accept the token: put a new one into the Secret.';
/** Channels of one page of their list. */
const CHANNELS = 200;

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
  const asked = { types: 'public_channel,private_channel', exclude_archived: true, limit: CHANNELS };
  for (let cursor: string | undefined; ; ) {
    const page = await request('conversations.list', { ...asked, ...(cursor ? { cursor } : {}) });
    for (const { id, name = id, is_private: isPrivate = false } of page.channels ?? []) {
      found.push({ id, name, isPrivate });
    }
    cursor = page.response_metadata?.next_cursor;
    if (!cursor) return found;
  }
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
  const reader = createThreadReader(api);
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
