import { randomInt } from 'node:crypto';
import type { Octokit } from '@octokit/core';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import { append } from '../../common/kernel/long-lists.ts';
import { createTtlCache } from '../../common/kernel/ttl-cache.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import {
  type Audience,
  type ChangePage,
  type Connector,
  graphqlPages,
  type OAuthSteps,
  type PresentDocument,
  permissionsByResource,
  type RawDelivery,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  SourceRevokedError,
  WebhookRefusedError,
  type WebhookSignal,
  waitMsOf,
} from './connector.ts';
import { slug } from './folder.ts';
import { createDiscussions, type Listing } from './github-discussions.ts';
import { createWikis } from './github-wiki.ts';
import { isSignature } from './signature.ts';

export interface GithubOptions {
  /** Address of github.com or a GitHub Enterprise Server. */
  readonly webUrl: string;
  /** Null: people cannot connect it, a Dataset resource can, with a token. */
  readonly app: GithubApp | null;
}

export interface GithubApp {
  readonly appId: string;
  readonly appSlug: string;
  readonly privateKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhookSecret: string;
  readonly frontendUrl: string;
}

const PER_PAGE = 100;
const MAX_FILE_BYTES = 1024 * 1024;
const REFUSED = 'GitHub does not accept the token any more: put a new one into the Secret.';
/** Profiles are asked for again after an hour. */
const ADDRESS_MS = 3_600_000;
const MAX_ADDRESSES = 50_000;
const CONCURRENT = 4;
const SUSPENDED = 'The GitHub App was uninstalled or suspended. Install it again to go on.';

const DAY_MS = 86_400_000;
const NOT_ALLOWED = 'Grant the GitHub App (or the token) Discussions: read.';

/**
 * The repositories of an installation of a GitHub App, or those that a token reaches: issues, pull requests and discussions with
 * what was said in them, files, and the pages of wikis.
 */
export function createGithubConnector({ webUrl, app }: GithubOptions): Connector {
  const baseUrl = webUrl === 'https://github.com' ? 'https://api.github.com' : `${webUrl}/api/v3`;
  const api = createApi(baseUrl, app);
  const issues = createIssues(api);
  const files = createFiles(api);
  const { repositoryOf } = api;
  const discussions = createDiscussions(api.askGraphql);
  const wikis = createWikis(async (access, id) => {
    const { full_name: name, html_url: url } = await repositoryOf(access, id);
    const given = isOfToken(access.connection)
      ? await access.token()
      : ((await (await api.clientOf(access)).auth({ type: 'installation' })) as { readonly token: string }).token;
    return { cloneUrl: `${webUrl}/${name}.wiki.git`, pageUrl: `${url}/wiki`, token: given };
  });
  return {
    provider: 'github',
    capabilities: {
      title: 'GitHub',
      feeds: ['issues', 'discussions', 'files', 'wiki'],
      kinds: { issues: 'Issues and pull requests', discussions: 'Discussions', files: 'Files', wiki: 'Wiki' },
      selection: 'optional',
      accounts: 'exclusive',
      everyMs: 900_000,
    },
    datasetName: ({ accountLabel }) => `github_${slug(accountLabel)}`,
    async list(access) {
      const repositories = isOfToken(access.connection)
        ? await api.all<Repository>(access, '/user/repos')
        : await api.all<Repository>(access, '/installation/repositories', 'repositories');
      return repositories.map((repository) => {
        const { id, full_name: name, description, private: isPrivate, archived } = repository;
        api.note(repository);
        return { id: String(id), name, description: description ?? null, attributes: { private: isPrivate, archived } };
      });
    },
    async *changesSince(access, { resource, feed }, cursor) {
      access.signal.throwIfAborted();
      if (feed === 'issues') {
        yield* issues.changes(access, resource, (cursor as IssueCursor | null) ?? { since: null, page: 1 });
      } else if (feed === 'files') yield* files.changes(access, resource, cursor as string | null);
      else {
        const { node_id: id, has_discussions: discusses, has_wiki: documents } = await repositoryOf(access, resource);
        const isOff = feed === 'wiki' ? documents === false : discusses !== true;
        if (isOff) yield { present: [], gone: [], cursor: null, isWhole: true };
        else yield* feed === 'wiki' ? wikis.changes(access, resource, cursor) : discussions.changes(access, id, cursor);
      }
    },
    async fetch(access, change) {
      const { feed, resource, key } = change;
      if (feed === 'issues') return issues.document(access, change);
      if (feed === 'files') return files.document(access, change);
      if (feed === 'wiki') return wikis.document(access, change);
      return discussions.document(access, (await repositoryOf(access, resource)).node_id, key);
    },
    permissionsOf: permissionsByResource(createAudiences(api)),
    bySecret: {
      keys: ['token'],
      async connect({ address, secret, signal }) {
        if (address !== null) {
          throw engramError('InvalidRequestError', 'GitHub takes no address: name repositories in selection.');
        }
        const { id, login } = await userOf(baseUrl, secret('token'), signal);
        return {
          accountId: `user-${id}`,
          label: login,
          authType: 'api_key',
          scopes: [],
          metadata: { account_login: login },
          tokens: { accessToken: secret('token'), refreshToken: null, expiresAt: null },
        };
      },
    },
    ...(app === null
      ? {}
      : {
          verifyWebhook: async (delivery) => readDelivery(app.webhookSecret, delivery),
          oauth: oauthSteps(app, { webUrl, baseUrl }),
        }),
  };
}

type GithubApi = ReturnType<typeof createApi>;

/** Requests to GitHub, with the token of an installation or of a connection. */
function createApi(baseUrl: string, app: GithubApp | null) {
  const clients = new Map<string, Promise<Octokit>>();
  /** Keeps the tokens of an installation until they expire. */
  const clientOf = async ({ connection, token }: SourceAccess): Promise<Octokit> => {
    if (isOfToken(connection)) return tokenClient(baseUrl, await token());
    if (app === null) throw new Error('The GitHub App is not configured on this server any more.');
    const { accountId: installationId } = connection;
    const privateKey = app.privateKey.replaceAll('\\n', '\n');
    const client = clients.get(installationId) ?? openClient({ baseUrl, appId: app.appId, privateKey, installationId });
    clients.set(installationId, client);
    return client;
  };
  const asked = async <T>(access: SourceAccess, send: (client: Octokit) => Promise<T>): Promise<T> => {
    try {
      return await send(await clientOf(access));
    } catch (error) {
      if (access.signal.aborted) throw error;
      const isRefused = isOfToken(access.connection) && (error as RequestError).status === 401;
      throw isRefused ? new SourceRevokedError(REFUSED, { cause: error }) : translated(error);
    }
  };
  const ask = <T>(access: SourceAccess, path: string, query: Query = {}): Promise<T> =>
    asked(access, async (client) => {
      return (await client.request(`GET ${path}`, { ...query, request: { signal: access.signal } })).data as T;
    });
  /** Null: what is asked for is not there. */
  const askGraphql = async <T>(access: SourceAccess, query: string, variables: Query): Promise<T | null> => {
    try {
      const request = { signal: access.signal };
      return await asked(access, (client) => client.graphql<T>(query, { ...variables, request }));
    } catch (error) {
      const { errors = [] } = error as RequestError;
      if (errors.length > 0 && errors.every(({ type }) => type === 'NOT_FOUND')) return null;
      if (errors.some(({ type }) => type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES')) {
        throw new Error(NOT_ALLOWED, { cause: error });
      }
      throw error;
    }
  };
  const found = async <T>(...request: Parameters<typeof ask>): Promise<T | null> => {
    try {
      return await ask<T>(...request);
    } catch (error) {
      if ([404, 409, 410].includes((error as RequestError).status ?? 0)) return null;
      throw error;
    }
  };
  /** What is on all pages; `field` has the list where the answer itself is none. */
  const all = async <T>(access: SourceAccess, path: string, field?: string): Promise<readonly T[]> => {
    const items: T[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await ask<unknown>(access, path, { per_page: PER_PAGE, page });
      const found = (field === undefined ? answer : (answer as Query)[field]) as readonly T[];
      append(items, found);
      if (found.length < PER_PAGE) return items;
    }
  };
  /** Repositories listed last, for their addresses: they change seldom, and every file has one. */
  const listed = new Map<string, Repository>();
  const repositoryOf = async (access: SourceAccess, id: string): Promise<Repository> => {
    return listed.get(id) ?? (await ask<Repository>(access, `/repositories/${id}`));
  };
  return {
    clientOf,
    ask,
    askGraphql,
    found,
    all,
    repositoryOf,
    note: (repository: Repository) => void listed.set(String(repository.id), repository),
  };
}

/** Issues and pull requests of repositories. */
function createIssues({ ask, askGraphql, found, all, repositoryOf }: GithubApi) {
  /**
   * `since` is inclusive, and many issues may change in one second: the page counts within it. Deleted ones are no change: once a
   * day all are listed, for webhooks that were missed.
   */
  async function* issuesSince(access: SourceAccess, repository: string, from: IssueCursor): AsyncGenerator<ChangePage> {
    let { since, page } = from;
    const isFirst = since === null;
    const wholeAt = isFirst ? new Date().toISOString() : from.wholeAt;
    for (;;) {
      const query = { state: 'all', sort: 'updated', direction: 'asc', per_page: PER_PAGE, page };
      const path = `/repositories/${repository}/issues`;
      const issues = await ask<readonly Issue[]>(access, path, { ...query, ...(since === null ? {} : { since }) });
      const last = issues.at(-1)?.updated_at ?? since;
      const isLast = issues.length < PER_PAGE;
      page = isLast || last !== since ? 1 : page + 1;
      since = last;
      const present = issues.map(({ number, updated_at: version }) => ({ key: String(number), version }));
      const isDue = wholeAt === undefined || Date.now() - Date.parse(wholeAt) >= DAY_MS;
      yield { present, gone: [], cursor: { since, page, ...(wholeAt === undefined ? {} : { wholeAt }) } };
      if (isLast && isDue) yield* allIssues(access, repository, since);
      if (isLast) return;
    }
  }

  /** In the order in which they were opened, by cursors: nothing that happens meanwhile has one passed over. */
  async function* allIssues(access: SourceAccess, repository: string, since: string | null) {
    const { node_id: id } = await repositoryOf(access, repository);
    const wholeAt = new Date().toISOString();
    for (const kind of ['issues', 'pullRequests'] as const) {
      const query = `query ($id: ID!, $after: String) { node(id: $id) { ... on Repository { listed: ${kind}(
        first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }
      ) { totalCount pageInfo { hasNextPage endCursor } nodes { number updatedAt } } } } }`;
      const read = async (after: string | null) => {
        const answer = await askGraphql<ListedIssues>(access, query, { id, after });
        if (!answer?.node) throw new Error('GitHub does not show the issues of the repository.');
        return answer.node.listed;
      };
      for await (const { nodes, pageInfo } of graphqlPages(read)) {
        const present = nodes.map(({ number, updatedAt: version }) => ({ key: String(number), version }));
        const isEnd = !pageInfo.hasNextPage && kind === 'pullRequests';
        const whole = isEnd ? { isWhole: true as const } : {};
        yield { present, gone: [], cursor: { since, page: 1, ...(isEnd ? { wholeAt } : {}) }, ...whole };
      }
    }
  }

  const issueDocument = async (access: SourceAccess, { resource, key }: PresentDocument) => {
    const path = `/repositories/${resource}/issues/${key}`;
    const issue = await found<Issue>(access, path);
    if (issue === null) return null;
    const comments = await all<Comment>(access, `${path}/comments`);
    const reviews =
      issue.pull_request === undefined
        ? []
        : await all<Comment>(access, `/repositories/${resource}/pulls/${key}/comments`);
    const said = [...comments, ...reviews].toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
    return {
      fileName: `${issue.title.replaceAll(/[\\/]/g, ' ')} (#${key}).md`,
      mimeType: 'text/markdown',
      content: Buffer.from(issueText(issue, said)),
      version: issue.updated_at,
      uri: issue.html_url,
    };
  };
  return { changes: issuesSince, document: issueDocument };
}

/** Files on the default branches of repositories. */
function createFiles({ ask, found, repositoryOf }: GithubApi) {
  async function* filesSince(access: SourceAccess, repository: string, before: string | null) {
    const { default_branch: branch } = await ask<Repository>(access, `/repositories/${repository}`);
    const head = await found<{ readonly sha: string }>(access, `/repositories/${repository}/commits/${branch}`);
    if (head !== null && head.sha === before) return;
    const tree =
      head === null
        ? null
        : await ask<Tree>(access, `/repositories/${repository}/git/trees/${head.sha}`, { recursive: '1' });
    const files = (tree?.tree ?? []).filter(isWanted).map(({ path, sha }) => ({ key: path, version: sha }));
    for (let at = 0; at < files.length || at === 0; at += PER_PAGE) {
      const isLast = at + PER_PAGE >= files.length;
      const page = { present: files.slice(at, at + PER_PAGE), gone: [], total: files.length };
      // A tree that GitHub cut off does not say what is gone.
      const whole = isLast && tree?.truncated !== true ? { isWhole: true as const } : {};
      yield { ...page, cursor: isLast ? (head?.sha ?? null) : before, ...whole };
    }
  }

  const fileDocument = async (access: SourceAccess, file: PresentDocument): Promise<SourceDocument | null> => {
    const { resource, key, version } = file;
    const path = `/repositories/${resource}/git/blobs/${version}`;
    const content = await found<ArrayBuffer>(access, path, { mediaType: { format: 'raw' } });
    if (content === null || version === null) return null;
    const { html_url: url, default_branch: branch } = await repositoryOf(access, resource);
    const uri = `${url}/blob/${branch}/${key.split('/').map(encodeURIComponent).join('/')}`;
    return { fileName: key.split('/').at(-1) ?? key, mimeType: null, content: bytesOf(content), version, uri };
  };
  return { changes: filesSince, document: fileDocument };
}

/** Who sees a repository: its collaborators with a verified address on their profile, or everybody. */
function createAudiences({ found, all, repositoryOf }: GithubApi) {
  /** Addresses on profiles, which GitHub has verified; null: the person shows none. */
  const addresses = createTtlCache<string, string | null>({
    clock: { monotonicMs: Date.now },
    ttlMs: ADDRESS_MS,
    maxEntries: MAX_ADDRESSES,
  });
  const addressOf = (access: SourceAccess, login: string): Promise<string | null> =>
    addresses.of(login, async () => {
      const profile = await found<{ readonly email: string | null }>(access, `/users/${encodeURIComponent(login)}`);
      return profile?.email ?? null;
    });
  return async (access: SourceAccess, repository: string): Promise<Audience | null> => {
    if (!(await repositoryOf(access, repository)).private) return null;
    const collaborators = await all<Person>(access, `/repositories/${repository}/collaborators`).catch((error) => {
      // An app or a token that may not ask sees for the one who connected it alone.
      if ([403, 404].includes((error as RequestError).status ?? 0)) return [];
      throw error;
    });
    const known = await mapConcurrently(collaborators, CONCURRENT, ({ login }) => addressOf(access, login));
    return { addresses: known.filter((address) => address !== null), groups: [], domains: [] };
  };
}

/** Connects an installation of the app. */
function oauthSteps(
  app: GithubApp,
  { webUrl, baseUrl }: { readonly webUrl: string; readonly baseUrl: string },
): OAuthSteps {
  const { clientId, clientSecret } = app;
  return {
    stateSecret: app.webhookSecret,
    frontendUrl: app.frontendUrl,
    // The page on which the app is installed takes no code challenge.
    authorizeUrl: ({ state }) => `${webUrl}/apps/${app.appSlug}/installations/new?state=${encodeURIComponent(state)}`,
    async exchange({ query, signal }) {
      const { code = '', installation_id: id = '' } = query;
      if (code === '' || !/^\d+$/.test(id)) throw new Error('GitHub returned no code or no installation.');
      const { Octokit: Client } = await import('@octokit/core');
      const { exchangeWebFlowCode } = await import('@octokit/oauth-methods');
      const { request } = new Client({ baseUrl, log: SILENT });
      const given = await exchangeWebFlowCode({ clientType: 'github-app', clientId, clientSecret, code, request });
      const user = new Client({ baseUrl, log: SILENT, auth: given.authentication.token });
      for (let page = 1; ; page += 1) {
        const asked = { per_page: PER_PAGE, page, request: { signal } };
        const { installations } = (await user.request('GET /user/installations', asked)).data;
        const installation = (installations as unknown as readonly Installation[]).find((one) => String(one.id) === id);
        if (installation !== undefined) return accountOf(installation);
        // Who installs it may name the installation of somebody else.
        if (installations.length < PER_PAGE) throw new Error('The installation is not one of this GitHub user.');
      }
    },
  };
}

function isOfToken({ authType }: Pick<SourceAccess['connection'], 'authType'>): boolean {
  return authType === 'api_key';
}

async function tokenClient(baseUrl: string, auth: string): Promise<Octokit> {
  const { Octokit: Client } = await import('@octokit/core');
  return new Client({ baseUrl, log: SILENT, auth });
}

/** Who a token is of. */
async function userOf(baseUrl: string, token: string, signal: AbortSignal) {
  try {
    return (await (await tokenClient(baseUrl, token)).request('GET /user', { request: { signal } })).data;
  } catch (error) {
    if (signal.aborted || (error as RequestError).status !== 401) throw translated(error);
    throw new SourceRevokedError(REFUSED, { cause: error });
  }
}

/** Loaded with the first account that is connected. */
async function openClient({ baseUrl, ...auth }: OctokitAuth & { readonly baseUrl: string }): Promise<Octokit> {
  const [{ Octokit: Client }, { createAppAuth }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/auth-app'),
  ]);
  return new Client({ baseUrl, log: SILENT, authStrategy: createAppAuth, auth });
}

interface OctokitAuth {
  readonly appId: string;
  readonly privateKey: string;
  readonly installationId: string;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type Query = Readonly<Record<string, unknown>>;
type IssueCursor = { readonly since: string | null; readonly page: number; readonly wholeAt?: string };
interface ListedIssues {
  readonly node: { readonly listed: Listing<Pick<Issue, 'number'> & { readonly updatedAt: string }> } | null;
}

interface Person {
  readonly login: string;
}
interface Comment {
  readonly user: Person | null;
  readonly body: string | null;
  readonly created_at: string;
  readonly path?: string;
}
interface Issue extends Comment {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly labels: readonly (string | { readonly name?: string })[];
  readonly assignees?: readonly Person[] | null;
  readonly milestone?: { readonly title: string } | null;
  readonly closed_at: string | null;
  readonly updated_at: string;
  readonly html_url: string;
  readonly pull_request?: { readonly merged_at?: string | null };
}
interface Repository {
  readonly id: number;
  readonly node_id: string;
  readonly full_name: string;
  readonly html_url: string;
  readonly description: string | null;
  readonly private: boolean;
  readonly archived: boolean;
  readonly default_branch: string;
  readonly has_discussions?: boolean;
  readonly has_wiki?: boolean;
}
interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly sha: string;
  readonly size?: number;
}
interface Tree {
  readonly tree: readonly TreeEntry[];
  readonly truncated: boolean;
}
interface Installation {
  readonly id: number;
  readonly app_id: number;
  readonly repository_selection: string;
  readonly account: { readonly login: string; readonly id: number; readonly type: string };
}
interface RequestError extends Error {
  readonly status?: number;
  readonly response?: { readonly headers?: ResponseHeaders; readonly url?: string };
  /** Of an answer of GraphQL, with the errors that it names. */
  readonly headers?: ResponseHeaders;
  readonly errors?: readonly { readonly type?: string; readonly message: string }[];
}
type ResponseHeaders = Readonly<Record<string, string | undefined>>;

function accountOf({ id, app_id, account, repository_selection }: Installation) {
  const { login, id: accountId, type } = account;
  return {
    accountId: String(id),
    label: login,
    authType: 'github_app' as const,
    scopes: [],
    metadata: { account_login: login, account_id: accountId, account_type: type, repository_selection, app_id },
  };
}

/** Wait for a secondary limit without a time, which GitHub asks to be a minute at least. */
const SECONDARY_MS = 60_000;

/** Limits are answered with 403 or 429; an installation that is gone has no tokens any more. */
function translated(error: unknown): unknown {
  const { status = 0, response, message, errors = [], headers = response?.headers ?? {} } = error as RequestError;
  const isLimit =
    headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message);
  const isOfGraphql = errors.some(({ type = '' }) => /^RATE_LIMIT/.test(type));
  if (((status === 403 || status === 429) && isLimit) || isOfGraphql) {
    // The reset is that of the primary limit: other limits are reached with requests left.
    const isSpent = headers['x-ratelimit-remaining'] === '0' && headers['x-ratelimit-reset'] !== undefined;
    const resetMs = Number(headers['x-ratelimit-reset']) * 1000 - Date.now();
    const elseMs = isSpent ? resetMs : SECONDARY_MS + randomInt(SECONDARY_MS / 2);
    return new SourceBusyError(waitMsOf(headers['retry-after'], elseMs), { cause: error });
  }
  const isToken = /\/access_tokens$/.test(response?.url ?? '');
  if ((isToken && [401, 403, 404].includes(status)) || (status === 403 && /suspended/i.test(message))) {
    return new SourceRevokedError(SUSPENDED, { cause: error });
  }
  return error;
}

/** An issue or pull request as one document, with everything that was said. */
function issueText(issue: Issue, comments: readonly Comment[]): string {
  const { number, title, state, pull_request: pull, labels, assignees, milestone, closed_at: closedAt } = issue;
  const names = labels
    .map((label) => (typeof label === 'string' ? label : (label.name ?? '')))
    .filter((name) => name !== '');
  const facts = [
    `${pull === undefined ? 'Issue' : 'Pull request'} #${number}, ${pull?.merged_at ? 'merged' : state}.`,
    `Opened by ${issue.user?.login ?? 'a former user'} on ${issue.created_at.slice(0, 10)}.`,
    ...(closedAt === null ? [] : [`Closed on ${closedAt.slice(0, 10)}.`]),
    ...(names.length === 0 ? [] : [`Labels: ${names.join(', ')}.`]),
    ...(assignees?.length ? [`Assigned to ${assignees.map(({ login }) => login).join(', ')}.`] : []),
    ...(milestone ? [`Milestone: ${milestone.title}.`] : []),
  ];
  const said = comments.map(({ user, created_at: at, body, path }) => {
    const where = path === undefined ? '' : ` about ${path}`;
    return `## ${user?.login ?? 'A former user'} on ${at.slice(0, 10)}${where}\n\n${body ?? ''}`;
  });
  return [`# ${title}`, facts.join(' '), issue.body ?? '', ...said].filter((part) => part !== '').join('\n\n');
}

const LEFT_OUT =
  /(^|\/)(node_modules|vendor|third_party|dist|build|\.git|\.idea|\.vscode)\/|\.min\.(js|css)$|(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|go\.sum)$/i;
const BINARY =
  /\.(png|jpe?g|gif|svg|webp|ico|bmp|mp[34]|webm|mov|avi|wav|ogg|woff2?|ttf|eot|otf|zip|gz|tgz|bz2|xz|7z|jar|war|class|exe|dll|so|dylib|a|o|bin|wasm|pyc|map|snap)$/i;

function isWanted({ type, path, size = 0 }: TreeEntry): boolean {
  return type === 'blob' && size > 0 && size <= MAX_FILE_BYTES && !LEFT_OUT.test(path) && !BINARY.test(path);
}

function bytesOf(content: ArrayBuffer | string): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
}

/** Checks the signature over the bytes as they came. What cannot be read or means nothing here says nothing. */
function readDelivery(secret: string, { headers, body }: RawDelivery) {
  const given = headers['x-hub-signature-256'] ?? '';
  if (!given.startsWith('sha256=') || !isSignature(given.slice(7), secret, body)) {
    throw new WebhookRefusedError('Invalid GitHub signature');
  }
  const payload = (parseClientObject(Buffer.from(body).toString('utf8')) ?? {}) as Payload;
  const id = headers['x-github-delivery'] ?? sha256(body);
  const accountId = payload.installation?.id;
  const signals = accountId === undefined ? [] : signalsOf(headers['x-github-event'] ?? '', payload, String(accountId));
  return { id, signals };
}

interface Payload {
  readonly action?: string;
  readonly ref?: string;
  readonly installation?: { readonly id?: number };
  readonly repository?: { readonly id: number; readonly default_branch?: string };
  readonly issue?: { readonly number: number };
  readonly pull_request?: { readonly number: number };
  readonly discussion?: { readonly number: number };
}

const FOLLOWED = new Set([
  ...['installation', 'installation_repositories', 'repository', 'push', 'issues', 'issue_comment'],
  ...['member', 'membership', 'team'],
  ...['pull_request', 'pull_request_review', 'pull_request_review_comment'],
  ...['discussion', 'discussion_comment', 'gollum'],
]);

function signalsOf(event: string, payload: Payload, accountId: string): readonly WebhookSignal[] {
  const { action, repository, discussion, issue = payload.pull_request ?? discussion, ref } = payload;
  if (event === 'installation' && (action === 'deleted' || action === 'suspend')) {
    return [{ kind: 'revoked', accountId, reason: SUSPENDED }];
  }
  const isElsewhere = event === 'push' && ref !== `refs/heads/${repository?.default_branch}`;
  if (!FOLLOWED.has(event) || isElsewhere) return [];
  const changed: WebhookSignal = { kind: 'changed', accountId };
  const isGone = /^(issues|discussion)$/.test(event) && (action === 'deleted' || action === 'transferred');
  // GitHub does not count it as a change of the issue.
  const isStale = event.endsWith('_comment') && (action === 'deleted' || event === 'discussion_comment');
  if (!(isGone || isStale) || issue === undefined || repository === undefined) return [changed];
  const place = {
    resource: String(repository.id),
    feed: discussion === undefined ? 'issues' : 'discussions',
    key: String(issue.number),
  };
  return [changed, { kind: isGone ? 'gone' : 'stale', accountId, ...place }];
}
