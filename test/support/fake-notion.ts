import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { closed, startServer } from './listening.ts';

export interface FakeBlock {
  readonly type: string;
  readonly value: object;
  readonly children?: readonly FakeBlock[];
  readonly id?: string;
}

type Parent =
  | { readonly type: 'workspace'; readonly workspace: true }
  | { readonly type: 'page_id'; readonly page_id: string }
  | { readonly type: 'block_id'; readonly block_id: string }
  | { readonly type: 'data_source_id'; readonly data_source_id: string; readonly database_id: string };

export interface FakePage {
  readonly id: string;
  title: string;
  parent: Parent;
  edited: string;
  inTrash: boolean;
  properties: Record<string, object>;
  blocks: FakeBlock[];
}

interface FakeDatabase {
  readonly id: string;
  title: string;
  parent: Parent;
}

export const WORKSPACE: Parent = { type: 'workspace', workspace: true };
const WORKSPACE_ID = 'f0000000-0000-4000-8000-000000000001';
/** The version that it speaks, the newest one of Notion. */
const API_VERSION = '2026-03-11';
/** Results of a page at most: Notion may give fewer than it is asked for. */
const PAGE = 40;
const REFERENCES = 25;
const EDITED = '2026-01-05T10:00:00.000Z';

/** Rich text as Notion gives it. */
export function text(content: string, more: { readonly href?: string; readonly code?: boolean } = {}) {
  const annotations = { bold: false, italic: false, strikethrough: false, underline: false, code: more.code ?? false };
  const link = more.href === undefined ? null : { url: more.href };
  return {
    type: 'text',
    text: { content, link },
    annotations: { ...annotations, color: 'default' },
    plain_text: content,
    href: more.href ?? null,
  };
}

/** A block that has text alone. */
export function block(
  type: string,
  content: string,
  more: object = {},
  children: readonly FakeBlock[] = [],
): FakeBlock {
  return { type, value: { rich_text: [text(content)], color: 'default', ...more }, children };
}

/** Notion of this machine: OAuth with basic authentication, search, databases, blocks, pages of results, limits, signed webhooks. */
export async function startFakeNotion() {
  const pages = new Map<string, FakePage>();
  const databases = new Map<string, FakeDatabase>();
  const codes = new Set<string>();
  const tokens = new Set<string>();
  const requests: string[] = [];
  let made = 0;
  const webhookSecret = `secret_${randomUUID().replaceAll('-', '')}`;
  const state = {
    /** Requests that are answered before the limit is reached; null: no limit. */
    remaining: null as number | null,
    retryAfterSeconds: 1 as number | null,
    /** How the limit is answered: `rate_limited` with 429, `service_overload` with 529, or trouble. */
    limit: { status: 429, code: 'rate_limited' },
    /** Results of a search at most, over all of its pages. */
    searchLimit: 10_000,
    /** Ids of blocks that are shown where they are, and are on pages that are not shared. */
    unshared: new Set<string>(),
  };

  const user = { object: 'user', id: 'bot-1' };
  const pageValue = (page: FakePage) => ({
    object: 'page',
    id: page.id,
    created_time: EDITED,
    last_edited_time: page.edited,
    parent: page.parent,
    in_trash: page.inTrash,
    is_archived: false,
    is_locked: false,
    icon: null,
    cover: null,
    created_by: user,
    last_edited_by: user,
    url: `https://www.notion.test/${page.id}`,
    public_url: null,
    properties: {
      ...Object.fromEntries(Object.entries(page.properties).map(([name, value]) => [name, shortened(value)])),
      Name: { id: 'title', type: 'title', title: page.title === '' ? [] : [text(page.title)] },
    },
  });
  const databaseValue = (database: FakeDatabase) => ({
    object: 'data_source',
    id: database.id,
    title: [text(database.title)],
    description: [],
    properties: {},
    parent: { type: 'database_id', database_id: `db-${database.id}` },
    database_parent: database.parent,
    created_time: EDITED,
    last_edited_time: EDITED,
    created_by: user,
    last_edited_by: user,
    is_inline: false,
    in_trash: false,
    icon: null,
    cover: null,
    url: `https://www.notion.test/${database.id}`,
    public_url: null,
  });
  const idOf = (one: FakeBlock, parent: string, index: number) => one.id ?? `${parent}.${index}`;
  /** The blocks of a page or block with what they are in. */
  const placed = function* (
    blocks: readonly FakeBlock[],
    parent: string,
    at: object,
  ): Generator<{ id: string; block: FakeBlock; at: object }> {
    for (const [index, one] of blocks.entries()) {
      const id = idOf(one, parent, index);
      yield { id, block: one, at };
      yield* placed(one.children ?? [], id, { type: 'block_id', block_id: id });
    }
  };
  const findBlock = (id: string) => {
    for (const page of pages.values()) {
      for (const one of placed(page.blocks, page.id, { type: 'page_id', page_id: page.id }))
        if (one.id === id) return one;
    }
    return null;
  };
  const blockValue = ({
    id,
    block: { type, value, children = [] },
    at,
  }: NonNullable<ReturnType<typeof findBlock>>) => ({
    object: 'block',
    id,
    type,
    [type]: value,
    parent: at,
    has_children: children.length > 0,
    created_time: EDITED,
    last_edited_time: EDITED,
    created_by: user,
    last_edited_by: user,
    in_trash: false,
  });
  const listOf = (all: readonly { id: string }[], cursor: unknown, size: unknown) => {
    const start = typeof cursor === 'string' ? all.findIndex(({ id }) => id === cursor) : 0;
    const end = start + Math.min(Number(size ?? 100), PAGE);
    return {
      object: 'list',
      type: 'block',
      block: {},
      results: all.slice(start, end),
      has_more: end < all.length,
      next_cursor: all[end]?.id ?? null,
      request_status: { type: 'complete' },
    };
  };
  const refuse = (message: string): never => {
    throw new NotionFault(400, 'validation_error', `body failed validation: ${message}`);
  };
  const search = (body: Record<string, unknown>): object => {
    const { property, value } = (body['filter'] ?? {}) as { property?: string; value?: string };
    if (property !== 'object' || !/^(page|data_source)$/.test(value ?? '')) refuse('body.filter.value');
    if (Number(body['page_size'] ?? 100) > 100) refuse('body.page_size should be ≤ `100`');
    const { direction } = (body['sort'] ?? {}) as { direction?: string };
    const sorted: readonly { id: string }[] =
      value === 'data_source'
        ? [...databases.values()].map(databaseValue)
        : [...pages.values()]
            .filter(({ inTrash }) => !inTrash)
            .toSorted(byEdited)
            .map(pageValue);
    const all = direction === 'ascending' ? sorted : sorted.toReversed();
    const isCut = all.length > state.searchLimit;
    const list = listOf(all.slice(0, state.searchLimit), body['start_cursor'], body['page_size']);
    const reason = { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' };
    return isCut && list.next_cursor === null ? { ...list, request_status: reason } : list;
  };
  const byEdited = (one: FakePage, other: FakePage) => (one.edited < other.edited ? -1 : 1);

  const token = (request: IncomingMessage, body: Record<string, unknown>): readonly [number, unknown] => {
    const basic = `Basic ${Buffer.from('client:secret').toString('base64')}`;
    if (request.headers.authorization !== basic) return [401, { error: 'invalid_client' }];
    const isRight = body['redirect_uri'] === 'http://engram.test/callback' && codes.delete(String(body['code']));
    if (!isRight) return [400, { error: 'invalid_grant', error_description: 'Invalid code.' }];
    const given = `ntn_${randomUUID().replaceAll('-', '')}`;
    tokens.add(given);
    return [
      200,
      {
        access_token: given,
        token_type: 'bearer',
        refresh_token: null,
        bot_id: 'bot-1',
        workspace_icon: null,
        workspace_name: 'Acme Wiki',
        workspace_id: WORKSPACE_ID,
        duplicated_template_id: null,
        owner: { type: 'user', user: { object: 'user', id: 'user-1' } },
      },
    ];
  };

  const read = (method: string, path: string, query: URLSearchParams, body: Record<string, unknown>): unknown => {
    const [, kind = '', id = '', rest = '', last = ''] =
      /^\/v1\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?(?:\/([^/]+))?$/.exec(path) ?? [];
    if (path === '/v1/users/me') {
      const bot = {
        owner: { type: 'workspace', workspace: true },
        workspace_id: WORKSPACE_ID,
        workspace_name: 'Acme Wiki',
      };
      return { ...user, type: 'bot', name: 'Engram', avatar_url: null, bot: { ...bot, workspace_limits: {} } };
    }
    if (path === '/v1/search' && method === 'POST') return search(body);
    if (kind === 'data_sources' && rest === 'query' && databases.has(id)) {
      const rows = [...pages.values()].filter(
        ({ parent, inTrash }) => parent.type === 'data_source_id' && parent.data_source_id === id && !inTrash,
      );
      return listOf(rows.map(pageValue), body['start_cursor'], body['page_size']);
    }
    if (kind === 'pages' && rest === 'properties') {
      const property = Object.values(pages.get(id)?.properties ?? {}).find(
        (one) => (one as { id: string }).id === last,
      );
      const { relation = [] } = (property ?? {}) as { relation?: readonly { id: string }[] };
      const items = relation.map((one) => ({ object: 'property_item', type: 'relation', id: one.id, relation: one }));
      const list = listOf(items, query.get('start_cursor'), query.get('page_size'));
      const facts = { id: last, type: 'relation', relation: {}, next_url: null };
      return { ...list, type: 'property_item', property_item: facts };
    }
    if (kind === 'pages') return pages.has(id) ? pageValue(pages.get(id) as FakePage) : undefined;
    if (kind !== 'blocks' || (rest === 'children' && state.unshared.has(id))) return undefined;
    const page = pages.get(id);
    const one = findBlock(id);
    if (rest === '') return one === null ? undefined : blockValue(one);
    const blocks = page?.blocks ?? one?.block.children;
    if (blocks === undefined || page?.inTrash) return undefined;
    const at = page === undefined ? { type: 'block_id', block_id: id } : { type: 'page_id', page_id: id };
    const children = blocks.map((child, index) => blockValue({ id: idOf(child, id, index), block: child, at }));
    return listOf(children, query.get('start_cursor'), query.get('page_size'));
  };

  const answer = (request: IncomingMessage, sent: string): readonly [number, unknown, object?] => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://notion.test');
    requests.push(`${request.method} ${pathname}`);
    const body = (sent === '' ? {} : JSON.parse(sent)) as Record<string, unknown>;
    const version = request.headers['notion-version'];
    if (version === undefined) return [400, fault(400, 'missing_version', 'Notion-Version')];
    if (version !== API_VERSION) return [400, fault(400, 'validation_error', 'Notion-Version')];
    if (pathname === '/v1/oauth/token') return token(request, body);
    if (pathname === '/v1/oauth/revoke') return [tokens.delete(String(body['token'])) ? 200 : 400, {}];
    const bearer = request.headers.authorization?.replace(/^Bearer ?/, '') ?? '';
    if (!tokens.has(bearer)) return [401, fault(401, 'unauthorized', 'API token is invalid.')];
    if (state.remaining !== null && state.remaining-- <= 0) {
      state.remaining = 3;
      const { status, code } = state.limit;
      const wait = state.retryAfterSeconds;
      return [status, fault(status, code, 'Try again later.'), wait === null ? {} : { 'retry-after': String(wait) }];
    }
    let found: unknown;
    try {
      found = read(request.method ?? 'GET', pathname, searchParams, body);
    } catch (error) {
      if (!(error instanceof NotionFault)) throw error;
      return [error.status, fault(error.status, error.code, error.message)];
    }
    return found === undefined ? [404, fault(404, 'object_not_found', 'Could not find it.')] : [200, found];
  };

  const { server, url } = await startServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const [status, value, headers = {}] = answer(request, Buffer.concat(pieces).toString());
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(value));
  });
  return {
    url,
    pages,
    databases,
    tokens,
    requests,
    state,
    webhookSecret,
    /** Variables of a server by which people sign in at it. */
    variables: {
      NOTION_CLIENT_ID: 'client',
      NOTION_CLIENT_SECRET: 'secret',
      NOTION_STATE_SECRET: randomUUID(),
      NOTION_REDIRECT_URI: 'http://engram.test/callback',
      NOTION_FRONTEND_BASE_URL: 'http://console.test',
      NOTION_WEBHOOK_SECRET: webhookSecret,
      ENGRAM_NOTION_URL: url,
    },
    page(title: string, blocks: FakeBlock[], more: Partial<FakePage> = {}): FakePage {
      made += 1;
      const id = `${String(made).padStart(8, '0')}-0000-4000-8000-000000000000`;
      const page = { id, title, blocks, parent: WORKSPACE, edited: EDITED, inTrash: false, properties: {}, ...more };
      pages.set(page.id, page);
      return page;
    },
    database(title: string, parent: Parent = WORKSPACE): FakeDatabase & { readonly row: Parent } {
      const id = `d${String(databases.size + 1).padStart(7, '0')}-0000-4000-8000-000000000000`;
      const database = { id, title, parent };
      databases.set(id, database);
      return { ...database, row: { type: 'data_source_id', data_source_id: id, database_id: `db-${id}` } };
    },
    /** The secret of an internal integration. */
    secret(): string {
      const secret = `ntn_${randomUUID().replaceAll('-', '')}`;
      tokens.add(secret);
      return secret;
    },
    /** The person allows the integration: the query that Notion sends the browser back with. */
    install(authorizeUrl: string): URLSearchParams {
      const code = randomUUID();
      codes.add(code);
      return new URLSearchParams({ code, state: new URL(authorizeUrl).searchParams.get('state') ?? '' });
    },
    /** Sends a webhook as Notion signs it. */
    async deliver(baseUrl: string, payload: object, secret = webhookSecret): Promise<Response> {
      const facts = { id: randomUUID(), timestamp: new Date().toISOString(), workspace_id: WORKSPACE_ID };
      const body = JSON.stringify({
        ...facts,
        subscription_id: 'sub',
        integration_id: 'int',
        attempt_number: 1,
        ...payload,
      });
      const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      return fetch(`${baseUrl}/api/v1/integrations/notion/events`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-notion-signature': signature },
      });
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** As in a page, which names no more than the first references of a property. */
function shortened(property: object): object {
  const { relation } = property as { relation?: readonly object[] };
  if (relation === undefined) return property;
  return { ...property, relation: relation.slice(0, REFERENCES), has_more: relation.length > REFERENCES };
}

class NotionFault extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function fault(status: number, code: string, message: string) {
  return { object: 'error', status, code, message, request_id: randomUUID() };
}
