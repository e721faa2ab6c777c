import { setTimeout as sleep } from 'node:timers/promises';
import type {
  APIResponseError,
  BlockObjectResponse,
  Client,
  OauthTokenResponse,
  PageObjectResponse,
} from '@notionhq/client';
import { engramError } from '../../common/kernel/errors.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import type { Logger } from '../../common/ports/logger.ts';
import { InvalidGrantError } from '../credentials/token-endpoint.ts';
import {
  type ChangePage,
  type ConnectedAccount,
  type Connector,
  type OAuthSteps,
  type PresentDocument,
  type RawDelivery,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  SourceRevokedError,
  type Tokens,
  WebhookRefusedError,
  waitMsOf,
} from './connector.ts';
import { slug } from './folder.ts';
import { markdownOf, propertyLines } from './notion-markdown.ts';
import {
  type Ask,
  found,
  isMissing,
  listWorkspace,
  type Node,
  nodeOfPage,
  PER_PAGE,
  type Properties,
  relationsOf,
  type Workspace,
} from './notion-workspace.ts';
import { isSignature } from './signature.ts';

interface NotionOptions {
  readonly apiUrl: string;
  /** A public integration, by which people sign in. Absent: they give the secret of an internal one. */
  readonly app?: NotionApp;
  /** Verification token of the webhooks. Absent: one that Notion sends is written to the log, for the operator. */
  readonly webhookSecret?: string;
  readonly logger: Pick<Logger, 'warn'>;
}

export interface NotionApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly stateSecret: string;
  readonly frontendUrl: string;
}

/** Version of the API that requests ask for and answers are read as. */
const API_VERSION = '2026-03-11';
const REQUEST_MS = 60_000;
/** Notion asks to wait for seconds at about three requests a second; what is longer is left to the import. */
const PATIENCE_MS = 60_000;
const MAX_TRIES = 20;
/** Statuses with which Notion asks to wait, and those of a moment of trouble; every request but the exchange of tokens only reads. */
const BUSY: ReadonlySet<number> = new Set([429, 529]);
const TROUBLE: ReadonlySet<number> = new Set([502, 503, 504]);
const TROUBLE_TRIES = 3;
const CUT_OFF =
  'Notion lists the pages of a workspace up to a limit, by their last change: some in between are missing here. Share fewer of them with the integration.';
/** Times of changes are whole minutes: another change in the same minute has the same one. */
const UNSETTLED_MS = 180_000;
const REVOKED = 'Notion no longer accepts the connection: it was removed from the workspace. Connect it again.';

/** The pages of a workspace of Notion that its people shared with the integration, and the rows of their databases. */
export function createNotionConnector({ apiUrl, app, webhookSecret, logger }: NotionOptions): Connector {
  const workspaces = createWorkspaces(apiUrl);
  const changes = createChanges(workspaces);
  return {
    provider: 'notion',
    capabilities: {
      title: 'Notion',
      feeds: ['pages'],
      selection: 'optional',
      accounts: 'of each user',
      everyMs: 3_600_000,
      address: 'the secret of an internal integration',
    },
    datasetName: ({ accountLabel }) => `notion_${slug(accountLabel)}`,
    async list(access) {
      const { nodes, tops } = await workspaces.read(access);
      const resources = [...tops.keys()].flatMap((id) => nodes.get(id) ?? []);
      return resources
        .map(({ id, title, kind }) => {
          return { id, name: title === '' ? 'Untitled' : title, description: null, attributes: { kind } };
        })
        .toSorted((one, other) => (one.name < other.name || (one.name === other.name && one.id < other.id) ? -1 : 1));
    },
    changesSince: (access, { resource }) => changes(access, resource),
    fetch: createDocuments(workspaces),
    verifyWebhook: async (delivery) => readDelivery(webhookSecret, delivery, logger),
    connect: (secret) => connectInternal(apiUrl, secret.trim()),
    bySecret: {
      keys: ['token'],
      async connect({ address, secret }) {
        if (address === null) return connectInternal(apiUrl, secret('token'));
        throw engramError('InvalidRequestError', 'Notion takes no address: name pages in selection.');
      },
    },
    ...(app === undefined ? {} : { oauth: oauthSteps(apiUrl, app) }),
  };
}

type Workspaces = ReturnType<typeof createWorkspaces>;

/** Requests of imports, and what they listed. */
function createWorkspaces(apiUrl: string) {
  const clients = new WeakMap<SourceAccess, Promise<Client>>();
  const ask = async <T>(access: SourceAccess, work: (client: Client) => Promise<T>): Promise<T> => {
    access.signal.throwIfAborted();
    const client = clients.get(access) ?? openClient(apiUrl, access.signal, access.token);
    clients.set(access, client);
    try {
      return await work(await client);
    } catch (error) {
      throw access.signal.aborted ? access.signal.reason : translated(error);
    }
  };

  /** What was listed last: of each import, and of each request of its own. */
  const listed = new WeakMap<SourceAccess, Workspace>();
  const read = async (access: SourceAccess): Promise<Workspace> => {
    const workspace = await listWorkspace((work) => ask(access, work));
    listed.set(access, workspace);
    return workspace;
  };
  return { ask, read, listed: (access: SourceAccess) => listed.get(access) };
}

/** The pages below a top of the workspace. */
function createChanges({ ask, read, listed: listedWorkspace }: Workspaces) {
  async function* changes(access: SourceAccess, resource: string): AsyncGenerator<ChangePage> {
    const workspace = listedWorkspace(access) ?? (await read(access));
    const { nodes, tops, isComplete } = workspace;
    const below = tops.get(resource) ?? [];
    const listed = (pages: readonly Node[]): ChangePage => ({
      present: pages.map(({ id, edited }) => ({ key: id, version: settled(edited) })),
      gone: [],
      cursor: null,
    });
    let page: Node[] = [];
    for (const node of below) {
      // Rows come with their database, which has all of them.
      const isRow = node.parent !== null && nodes.get(node.parent)?.kind === 'database';
      if (node.kind === 'page' && !isRow) page.push(node);
      if (page.length === PER_PAGE) {
        yield listed(page);
        page = [];
      }
    }
    for (const { id, kind } of below) {
      if (kind !== 'database') continue;
      for await (const rows of rowsOf(access, id)) {
        workspace.rows = new Map(rows.map((row) => [row.id, nodeOfPage(row, { withProperties: true })]));
        yield listed([...workspace.rows.values()]);
      }
    }
    yield { ...listed(page), ...(isComplete ? { isWhole: true } : {}) };
    if (!isComplete) throw new Error(CUT_OFF);
  }

  async function* rowsOf(access: SourceAccess, database: string): AsyncGenerator<readonly PageObjectResponse[]> {
    const { iterateAllDataSourceRows, isFullPage } = await import('@notionhq/client');
    // It also goes beyond the 10,000 rows that one query gives.
    const asked = { data_source_id: database, page_size: PER_PAGE };
    const all = await ask(access, async (client) => iterateAllDataSourceRows(client, asked));
    for (let rows: PageObjectResponse[] = []; ; rows = []) {
      while (rows.length < PER_PAGE) {
        const next = await ask(access, () => all.next());
        if (next.done === true) {
          yield rows;
          return;
        }
        if (isFullPage(next.value) && !next.value.in_trash) rows.push(next.value);
      }
      yield rows;
    }
  }
  return changes;
}

/** Pages as documents. */
function createDocuments({ ask, listed }: Workspaces) {
  const nodeOf = async (access: SourceAccess, { key, version }: PresentDocument): Promise<Node | null> => {
    const workspace = listed(access);
    const known = workspace?.rows.get(key) ?? workspace?.nodes.get(key);
    if (known !== undefined && (version === null || known.edited === version)) return known;
    const { isFullPage } = await import('@notionhq/client');
    const page = await found(ask(access, (client) => client.pages.retrieve({ page_id: key })));
    return page === null || !isFullPage(page) || page.in_trash ? null : nodeOfPage(page, { withProperties: true });
  };

  /** Properties of a row: a page names no more than 25 relations of each, so the others are asked for. */
  const withRelations = async (access: SourceAccess, { id, properties = {} }: Node): Promise<Properties> => {
    const whole: Record<string, Properties[string]> = {};
    for (const [name, property] of Object.entries(properties)) {
      const isCut = property.type === 'relation' && 'has_more' in property && property.has_more === true;
      if (!isCut) whole[name] = property;
      else whole[name] = { ...property, relation: await relationsOf((work) => ask(access, work), id, property.id) };
    }
    return whole;
  };

  return async (access: SourceAccess, change: PresentDocument): Promise<SourceDocument | null> => {
    const node = await nodeOf(access, change);
    if (node === null) return null;
    const children = async function* (id: string) {
      try {
        yield* blocksOf((work) => ask(access, work), id);
      } catch (error) {
        // A block may show what is on a page that is not shared.
        if (id === node.id || !isMissing(error)) throw error;
      }
    };
    const body = await found(markdownOf(node.id, children));
    if (body === null) return null;
    const title = node.title === '' ? 'Untitled' : node.title;
    const database = node.parent === null ? undefined : listed(access)?.nodes.get(node.parent);
    const place = database?.kind === 'database' ? `Database: ${database.title}` : '';
    const titles = (id: string) => listed(access)?.nodes.get(id)?.title ?? '';
    const properties = propertyLines(await withRelations(access, node), titles);
    const facts = [place, properties].filter((part) => part !== '').join('\n');
    const text = [`# ${title}`, facts, body].filter((part) => part !== '').join('\n\n');
    return {
      fileName: `${title.replaceAll(/[\\/]/g, ' ')}.md`,
      mimeType: 'text/markdown',
      content: Buffer.from(text),
      // Another version than the one that is listed once the minute is over.
      version: settled(node.edited) ?? `${node.edited} unsettled`,
      uri: node.url,
    };
  };
}

/** Loaded with the first account. Requests wait as long as Notion asks, all of an import together. */
async function openClient(apiUrl: string, signal: AbortSignal, token: (() => Promise<string>) | null): Promise<Client> {
  const { Client: NotionClient } = await import('@notionhq/client');
  let freeAtMs = 0;
  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    for (let tries = 1; ; tries += 1) {
      if (freeAtMs > Date.now()) await sleep(freeAtMs - Date.now(), undefined, { signal });
      const authorization = token === null ? {} : { authorization: `Bearer ${await token()}` };
      const response = await fetch(url, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), ...authorization },
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      });
      const isBusy = BUSY.has(response.status);
      const isTrouble = token !== null && tries < TROUBLE_TRIES && TROUBLE.has(response.status);
      if (!isBusy && !isTrouble) return response;
      await response.body?.cancel();
      const backOffMs = Math.min(500 * 2 ** tries, PATIENCE_MS);
      const waitMs = Math.max(waitMsOf(response.headers.get('retry-after'), backOffMs), 100);
      if (waitMs > PATIENCE_MS || tries === MAX_TRIES) throw new SourceBusyError(waitMs);
      freeAtMs = Math.max(freeAtMs, Date.now() + waitMs);
    }
  };
  // Its own limit of time would count the waits.
  const limits = { retry: false as const, timeoutMs: MAX_TRIES * (PATIENCE_MS + REQUEST_MS) };
  const asked = { baseUrl: apiUrl, notionVersion: API_VERSION, ...limits };
  return new NotionClient({ ...asked, logger: () => {}, fetch: send as typeof fetch });
}

function translated(error: unknown): unknown {
  const isRefused = (error as APIResponseError).status === 401;
  return isRefused ? new SourceRevokedError(REVOKED, { cause: error }) : error;
}

async function* blocksOf(ask: Ask, id: string): AsyncGenerator<BlockObjectResponse> {
  const { isFullBlock } = await import('@notionhq/client');
  for (let cursor: string | undefined; ; ) {
    const asked = { block_id: id, page_size: PER_PAGE, ...(cursor === undefined ? {} : { start_cursor: cursor }) };
    const { results, next_cursor: next } = await ask((client) => client.blocks.children.list(asked));
    for (const block of results) if (isFullBlock(block) && !block.in_trash) yield block;
    if (next === null) return;
    cursor = next;
  }
}

/** The version of a document that was changed then; null: it may still change without another one. */
function settled(edited: string): string | null {
  return Date.now() - Date.parse(edited) > UNSETTLED_MS ? edited : null;
}

/** Connects with the secret of an internal integration. */
async function connectInternal(apiUrl: string, secret: string): Promise<ConnectedAccount> {
  if (!/^(ntn_|secret_)\w{8,}$/.test(secret)) {
    throw engramError(
      'InvalidRequestError',
      'Give the secret of an internal integration of Notion, which begins with ntn_: it is on https://www.notion.so/profile/integrations.',
    );
  }
  const client = await openClient(apiUrl, AbortSignal.timeout(REQUEST_MS), async () => secret);
  const { id, name, ...rest } = await client.users.me({}).catch((error: unknown) => {
    if ((error as APIResponseError).status !== 401) throw error;
    throw engramError('InvalidRequestError', 'Notion does not accept the secret. Copy it again from the integration.');
  });
  const bot = 'bot' in rest && 'workspace_id' in rest.bot ? rest.bot : null;
  const label = bot?.workspace_name ?? name ?? 'Notion';
  return {
    accountId: bot?.workspace_id ?? id,
    label,
    authType: 'api_key',
    scopes: [],
    metadata: { bot_id: id, workspace_name: label },
    tokens: { accessToken: secret, refreshToken: null, expiresAt: null },
  };
}

function oauthSteps(apiUrl: string, app: NotionApp): OAuthSteps {
  const { clientId: client_id, clientSecret: client_secret, redirectUri: redirect_uri } = app;
  return {
    stateSecret: app.stateSecret,
    frontendUrl: app.frontendUrl,
    // It takes no code challenge.
    authorizeUrl({ state }) {
      const asked = { client_id, redirect_uri, response_type: 'code', owner: 'user', state };
      return `${apiUrl}/v1/oauth/authorize?${new URLSearchParams(asked)}`;
    },
    async exchange({ query: { code = '' }, signal }) {
      const client = await openClient(apiUrl, signal, null);
      const grant = { client_id, client_secret, grant_type: 'authorization_code' as const, code, redirect_uri };
      const given = await client.oauth.token(grant);
      const label = given.workspace_name ?? 'Notion';
      return {
        accountId: given.workspace_id,
        label,
        authType: 'oauth2',
        scopes: [],
        metadata: { bot_id: given.bot_id, workspace_name: label },
        tokens: tokensOf(given),
      };
    },
    async refresh(refresh_token, signal) {
      const client = await openClient(apiUrl, signal, null);
      const grant = { client_id, client_secret, grant_type: 'refresh_token' as const, refresh_token };
      const given = await client.oauth.token(grant).catch((error: unknown) => {
        const { body = '' } = error as { readonly body?: string };
        throw body.includes('invalid_grant') ? new InvalidGrantError('Notion answered invalid_grant.') : error;
      });
      return { ...tokensOf(given), refreshToken: given.refresh_token ?? refresh_token };
    },
    async revoke({ connection, signal, token }) {
      // Who connected with a secret removes the integration at Notion.
      if (connection.authType !== 'oauth2') return;
      const client = await openClient(apiUrl, signal, null);
      await client.oauth.revoke({ client_id, client_secret, token: await token() });
    },
  };
}

/** Tokens of Notion do not expire, unless it says so. */
function tokensOf(given: OauthTokenResponse & { readonly expires_in?: number }): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = given;
  const expiresAt = seconds === undefined ? null : new Date(Date.now() + seconds * 1000).toISOString();
  return { accessToken, refreshToken, expiresAt };
}

interface Payload {
  readonly id?: string;
  readonly type?: string;
  readonly workspace_id?: string;
  readonly verification_token?: string;
}

/** Checks the signature over the bytes as they came; without a verification token, only one is taken. */
function readDelivery(secret: string | undefined, { headers, body }: RawDelivery, logger: Pick<Logger, 'warn'>) {
  const payload = (parseClientObject(Buffer.from(body).toString('utf8')) ?? {}) as Payload;
  const { id, type = '', workspace_id: accountId, verification_token: offered } = payload;
  if (secret === undefined && typeof offered === 'string' && /^secret_\w{8,200}$/.test(offered)) {
    const remedy = 'Confirm the webhook at Notion with it, and set NOTION_WEBHOOK_SECRET to it.';
    logger.warn('notion.webhook.verification', { offered, remedy });
    return { id: offered, signals: [] };
  }
  const given = headers['x-notion-signature'] ?? '';
  if (secret === undefined || !given.startsWith('sha256=') || !isSignature(given.slice(7), secret, body)) {
    throw new WebhookRefusedError('Invalid Notion signature');
  }
  const isFollowed = /^(page|database|data_source)\./.test(type);
  const isKnown = isFollowed && typeof id === 'string' && typeof accountId === 'string';
  return { id: id ?? given, signals: isKnown ? [{ kind: 'changed' as const, accountId }] : [] };
}
