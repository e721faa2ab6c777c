import { spawn } from 'node:child_process';
import { createHash, createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { jwtVerify } from 'jose';
import { parseGraphql, type Resolver, selectGraphql, type Value } from './fake-graphql.ts';
import { closed, startServer } from './listening.ts';

export interface FakeIssue {
  title: string;
  body: string;
  state: 'open' | 'closed';
  user: string;
  updated: string;
  comments: { user: string; body: string; created: string }[];
  isPull?: boolean;
}

interface FakeDiscussion {
  title: string;
  body: string;
  user: string;
  updated: string;
  comments: { user: string; body: string; isAnswer?: boolean; replies?: { user: string; body: string }[] }[];
}

export interface FakeRepository {
  readonly id: number;
  readonly name: string;
  readonly issues: Map<number, FakeIssue>;
  readonly files: Map<string, string>;
  readonly discussions: Map<number, FakeDiscussion>;
  /** Pages by file name; it is a repository of Git once it has one. */
  readonly wiki: Map<string, string>;
  isPrivate: boolean;
  readonly collaborators: Set<string>;
}

const INSTALLATION = 77;

/** A GitHub App on a GitHub Enterprise Server of this machine: OAuth, tokens that expire, pages, limits, signed webhooks. */
export async function startFakeGithub() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const webhookSecret = randomUUID();
  const repositories: FakeRepository[] = [];
  const tokens = new Map<string, number>();
  const codes = new Set<string>();
  const userTokens = new Set<string>();
  const personal = new Set<string>();
  /** Addresses on profiles by login; null: not shown. */
  const people = new Map<string, string | null>();
  const requests: string[] = [];
  const wikis = new Map<string, { readonly folder: Promise<string>; pages: string }>();
  const state = {
    /** Removed or suspended by its owner. */
    isGone: false,
    /** Requests that are answered before the rate limit is reached; null: no limit. */
    remaining: null as number | null,
    /** The limit that is reached then: one of requests an hour, or a secondary one, with or without a time. */
    limit: 'secondary' as 'primary' | 'secondary' | 'secondary without a time',
    retryAfterSeconds: 1,
    tokenLifeMs: 3_600_000,
    /** The points of GraphQL are spent for a minute. */
    isGraphqlSpent: false,
    /** Holds answers back while it is set. */
    hold: null as ((line: string) => Promise<void>) | null,
  };

  const issueOf = (repository: FakeRepository, number: number, issue: FakeIssue) => ({
    number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    user: { login: issue.user },
    labels: [{ name: 'bug' }],
    assignees: [],
    milestone: null,
    closed_at: null,
    created_at: issue.updated,
    updated_at: issue.updated,
    html_url: `${repository.name}/issues/${number}`,
    ...(issue.isPull ? { pull_request: { merged_at: null } } : {}),
  });
  const repositoryOf = ({ id, name, isPrivate }: FakeRepository) => ({
    id,
    node_id: `R_${id}`,
    has_discussions: true,
    has_wiki: true,
    full_name: name,
    html_url: `https://github.test/${name}`,
    description: null,
    private: isPrivate,
    archived: false,
    default_branch: 'main',
  });
  const paged = <T>(items: readonly T[], query: URLSearchParams): readonly T[] => {
    const size = Number(query.get('per_page') ?? 30);
    const page = Number(query.get('page') ?? 1);
    return items.slice((page - 1) * size, page * size);
  };
  const commitOf = ({ files }: FakeRepository) => sha(JSON.stringify([...files]));

  const read = (path: string, query: URLSearchParams): unknown => {
    if (path === '/user/repos') return paged(repositories.map(repositoryOf), query);
    if (path === '/installation/repositories') return { repositories: paged(repositories.map(repositoryOf), query) };
    const [, login = ''] = /^\/users\/([\w-]+)$/.exec(path) ?? [];
    if (people.has(login)) return { login, type: 'User', email: people.get(login) };
    const [, id = '', rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
    const repository = repositories.find((one) => String(one.id) === id);
    if (repository === undefined) return undefined;
    const { issues, files } = repository;
    if (rest === '') return repositoryOf(repository);
    if (rest === '/collaborators') {
      const permissions = { pull: true, triage: false, push: false, maintain: false, admin: false };
      return paged(
        [...repository.collaborators].map((one) => ({ login: one, type: 'User', permissions, role_name: 'read' })),
        query,
      );
    }
    if (rest === '/issues') {
      const since = query.get('since') ?? '';
      const changed = [...issues].filter(([, { updated }]) => updated >= since);
      const sorted = changed.toSorted(([, one], [, other]) => (one.updated < other.updated ? -1 : 1));
      return paged(
        sorted.map(([number, issue]) => issueOf(repository, number, issue)),
        query,
      );
    }
    const [, number = '', part = ''] = /^\/(?:issues|pulls)\/(\d+)(\/comments)?$/.exec(rest) ?? [];
    const issue = issues.get(Number(number));
    if (issue !== undefined) {
      if (part === '') return issueOf(repository, Number(number), issue);
      const isReview = rest.startsWith('/pulls');
      const comments = issue.comments.map(({ user, body, created }) => ({
        user: { login: user },
        body,
        created_at: created,
      }));
      return paged(isReview ? [] : comments, query);
    }
    if (rest === '/commits/main') return files.size === 0 ? undefined : { sha: commitOf(repository) };
    if (rest.startsWith('/git/trees/')) {
      const tree = [...files].map(([file, text]) => ({ path: file, type: 'blob', sha: sha(text), size: text.length }));
      return { tree, truncated: false };
    }
    const blob = /^\/git\/blobs\/(\w+)$/.exec(rest)?.[1];
    const text = [...files.values()].find((one) => sha(one) === blob);
    return text === undefined ? undefined : Buffer.from(text);
  };

  const root: Record<string, Resolver> = {
    node: ({ id }) => {
      const repository = repositories.find((one) => `R_${one.id}` === id);
      if (repository !== undefined) return graphqlRepository(repository);
      const replies = repositories
        .flatMap((one) => [...one.discussions])
        .flatMap(([number, { comments }]) => comments.map((one, at) => ({ id: `DC_${number}_${at}`, ...one })))
        .find((one) => one.id === id)?.replies;
      return replies === undefined ? null : { replies: listing(() => replies.map(graphqlSaid)) };
    },
  };
  const graphql = (body: string): readonly [number, unknown, object?] => {
    if (state.isGraphqlSpent) {
      const errors = [{ type: 'RATE_LIMIT', code: 'graphql_rate_limit', message: 'API rate limit already exceeded.' }];
      const reset = String(Math.ceil(Date.now() / 1000) + 60);
      return [200, { errors }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }];
    }
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    const data = selectGraphql(root, parseGraphql(query, variables));
    const isMissing = JSON.stringify(data).includes(':null}}') && /discussion\(/.test(query);
    const message = 'Could not resolve to a Discussion with the number of that.';
    return [200, isMissing ? { data, errors: [{ type: 'NOT_FOUND', path: ['node'], message }] } : { data }];
  };

  /** Commits the pages where they are others than those of the last commit. */
  const wikiFolder = async (repository: FakeRepository): Promise<string> => {
    const known = wikis.get(repository.name) ?? { folder: mkdtemp(join(tmpdir(), 'engram-wiki-')), pages: '' };
    wikis.set(repository.name, known);
    const folder = await known.folder;
    const pages = JSON.stringify([...repository.wiki]);
    if (pages === known.pages) return folder;
    if (known.pages === '') await git(folder, ['init', '--quiet', '--initial-branch=master']);
    await git(folder, ['rm', '-rfq', '--ignore-unmatch', '.']);
    for (const [name, text] of repository.wiki) await writeFile(join(folder, name), text);
    await git(folder, ['add', '--all']);
    await git(folder, [...GIT_AUTHOR, 'commit', '--quiet', '--message', 'Change']);
    known.pages = pages;
    return folder;
  };

  const isApp = async (request: IncomingMessage): Promise<boolean> => {
    const token = request.headers.authorization?.replace(/^bearer /i, '') ?? '';
    return jwtVerify(token, publicKey, { issuer: '1234', algorithms: ['RS256'] }).then(
      () => true,
      () => false,
    );
  };

  const answer = async (request: IncomingMessage, body: string): Promise<readonly [number, unknown, object?]> => {
    const url = new URL(request.url ?? '', 'http://github.test');
    const path = url.pathname.replace(/^\/api\/v3/, '');
    if (path === '/login/oauth/access_token') {
      const { code, client_id: client, client_secret: secret } = JSON.parse(body) as Record<string, string>;
      if (client !== 'client' || secret !== 'secret' || code === undefined || !codes.delete(code)) {
        return [200, { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' }];
      }
      const token = `ghu_${randomUUID()}`;
      userTokens.add(token);
      return [200, { access_token: token, token_type: 'bearer', scope: '' }];
    }
    if (path === `/app/installations/${INSTALLATION}/access_tokens`) {
      if (!(await isApp(request))) return [401, { message: 'A JSON web token could not be decoded' }];
      if (state.isGone) return [404, { message: 'Not Found' }];
      const token = `ghs_${randomUUID()}`;
      const expires = Date.now() + state.tokenLifeMs;
      tokens.set(token, expires);
      const facts = { permissions: { issues: 'read' }, repository_selection: 'all' };
      return [201, { token, expires_at: new Date(expires).toISOString(), ...facts }];
    }
    const token = request.headers.authorization?.replace(/^(token|bearer) /i, '') ?? '';
    if (path === '/user/installations') {
      if (!userTokens.has(token)) return [401, { message: 'Bad credentials' }];
      const account = { login: 'Acme Corp', id: 9, type: 'Organization' };
      return [200, { installations: [{ id: INSTALLATION, app_id: 1234, repository_selection: 'all', account }] }];
    }
    if (path === '/user' && personal.has(token)) return [200, { login: 'ada', id: 5 }];
    if (!personal.has(token) && (tokens.get(token) ?? 0) < Date.now()) return [401, { message: 'Bad credentials' }];
    if (state.isGone) return [403, { message: 'This installation has been suspended' }];
    if (state.remaining !== null) {
      if (state.remaining <= 0) {
        const reset = { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 1800) };
        if (state.limit === 'primary') {
          return [
            403,
            { message: 'API rate limit exceeded for installation ID 77.' },
            { ...reset, 'x-ratelimit-remaining': '0' },
          ];
        }
        const wait = state.limit === 'secondary' ? { 'retry-after': String(state.retryAfterSeconds) } : {};
        const headers = { ...reset, ...wait, 'x-ratelimit-remaining': '4711' };
        return [403, { message: 'You have exceeded a secondary rate limit.' }, headers];
      }
      state.remaining -= 1;
    }
    if (path === '/api/graphql') return graphql(body);
    const found = read(path, url.searchParams);
    return found === undefined ? [404, { message: 'Not Found' }] : [200, found];
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await buffer(request);
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    await state.hold?.(line);
    const [, wiki, service] = /^\/([\w/-]+)\.wiki\.git\/(info\/refs|git-upload-pack)/.exec(request.url ?? '') ?? [];
    if (wiki !== undefined && service !== undefined) {
      const [, given = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
      const token = Buffer.from(given, 'base64')
        .toString()
        .replace(/^x-access-token:/, '');
      const repository = repositories.find(({ name }) => name === wiki);
      const isKnown = personal.has(token) || (tokens.get(token) ?? 0) >= Date.now();
      if (!isKnown || repository === undefined || repository.wiki.size === 0)
        response.writeHead(isKnown ? 404 : 401).end();
      else await serveGit(response, await wikiFolder(repository), { service, body: sent });
      return;
    }
    const [status, body, headers] = await answer(request, sent.toString());
    const isBytes = Buffer.isBuffer(body);
    response.writeHead(status, {
      'content-type': isBytes ? 'application/vnd.github.raw' : 'application/json; charset=utf-8',
      ...headers,
    });
    response.end(isBytes ? body : JSON.stringify(body));
  };
  const { server, url } = await startServer(serve);
  return {
    url,
    requests,
    repositories,
    people,
    state,
    /** Personal access tokens that it accepts. */
    personal,
    installationId: String(INSTALLATION),
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    webhookSecret,
    /** Variables of a server that uses it. */
    variables: {
      GITHUB_APP_ID: '1234',
      GITHUB_APP_SLUG: 'engram',
      GITHUB_CLIENT_ID: 'client',
      GITHUB_CLIENT_SECRET: 'secret',
      GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      GITHUB_FRONTEND_BASE_URL: 'http://console.test',
      ENGRAM_GITHUB_URL: url,
    },
    add(name: string): FakeRepository {
      const repository: FakeRepository = {
        id: 500 + repositories.length,
        name,
        issues: new Map(),
        files: new Map(),
        discussions: new Map(),
        wiki: new Map(),
        isPrivate: true,
        collaborators: new Set(),
      };
      repositories.push(repository);
      return repository;
    },
    /** The person installs the app: the query that GitHub sends the browser back with. */
    install(state: string): URLSearchParams {
      const code = randomUUID();
      codes.add(code);
      return new URLSearchParams({ code, installation_id: String(INSTALLATION), setup_action: 'install', state });
    },
    /** Sends a webhook as GitHub signs it. */
    async deliver(baseUrl: string, event: string, payload: object, id: string = randomUUID()): Promise<Response> {
      const body = JSON.stringify({ installation: { id: INSTALLATION }, ...payload });
      const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
      return fetch(`${baseUrl}/api/v1/integrations/github/events`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-github-event': event,
          'x-github-delivery': id,
          'x-hub-signature-256': `sha256=${signature}`,
        },
      });
    },
    async [Symbol.asyncDispose]() {
      await closed(server);
      await Promise.all([...wikis.values()].map(async (wiki) => rm(await wiki.folder, { recursive: true })));
    },
  };
}

/** A listing of GraphQL, whose cursors name a place in its order. */
function listing(all: (order: { field: string; direction: string }) => readonly Value[]): Resolver {
  return ({ first = 100, after, orderBy }) => {
    const rows = all((orderBy ?? {}) as { field: string; direction: string });
    const start = typeof after === 'string' ? Number(after) : 0;
    const nodes = rows.slice(start, start + Number(first));
    const end = start + nodes.length;
    return { totalCount: rows.length, pageInfo: { hasNextPage: end < rows.length, endCursor: String(end) }, nodes };
  };
}

function graphqlSaid({ user, body }: { readonly user: string; readonly body: string }) {
  return { author: { login: user }, body, createdAt: '2026-01-06T00:00:00Z' };
}

function graphqlRepository({ discussions, issues }: FakeRepository): Value {
  const listed = [...discussions].map(([number, { title, updated, comments, ...said }]) => ({
    number,
    title,
    updatedAt: updated,
    url: `https://github.test/discussions/${number}`,
    closed: false,
    ...graphqlSaid(said),
    category: { name: 'Ideas' },
    labels: { nodes: [] },
    comments: listing(() =>
      comments.map(({ isAnswer = false, replies = [], ...comment }, at) => ({
        id: `DC_${number}_${at}`,
        isAnswer,
        ...graphqlSaid(comment),
        replies: listing(() => replies.map(graphqlSaid)),
      })),
    ),
  }));
  const issuesOf = (isPull: boolean) =>
    listing(() =>
      [...issues].flatMap(([number, issue]) => {
        return (issue.isPull ?? false) === isPull ? [{ number, updatedAt: issue.updated }] : [];
      }),
    );
  return {
    discussions: listing(({ field, direction }) => {
      const ordered = listed.toSorted((one, other) => {
        return field === 'UPDATED_AT' ? one.updatedAt.localeCompare(other.updatedAt) : one.number - other.number;
      });
      return direction === 'DESC' ? ordered.toReversed() : ordered;
    }),
    discussion: ({ number }) => listed.find((one) => one.number === number) ?? null,
    issues: issuesOf(false),
    pullRequests: issuesOf(true),
  };
}

const GIT_AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test', '-c', 'gc.auto=0'];

function git(folder: string, args: readonly string[], input: Uint8Array = Buffer.alloc(0)): Promise<Buffer> {
  const child = spawn('git', args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => {}).end(input);
  return buffer(child.stdout);
}

/** Answers with the real Git, as a server of its protocol for HTTP does. */
async function serveGit(
  response: ServerResponse,
  folder: string,
  { service, body }: { readonly service: string; readonly body: Uint8Array },
): Promise<void> {
  const isNaming = service === 'info/refs';
  const options = ['-c', 'uploadpack.allowFilter=true', 'upload-pack', '--stateless-rpc'];
  const given = await git(folder, [...options, ...(isNaming ? ['--advertise-refs', '.'] : ['.'])], body);
  const type = isNaming ? 'advertisement' : 'result';
  response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${type}`, 'cache-control': 'no-cache' });
  response.end(Buffer.concat([Buffer.from(isNaming ? '001e# service=git-upload-pack\n0000' : ''), given]));
}

function sha(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
