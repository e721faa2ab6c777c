import { createHash, createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';

export interface FakeIssue {
  title: string;
  body: string;
  state: 'open' | 'closed';
  user: string;
  updated: string;
  comments: { user: string; body: string; created: string }[];
  isPull?: boolean;
}

export interface FakeRepository {
  readonly id: number;
  readonly name: string;
  readonly issues: Map<number, FakeIssue>;
  readonly files: Map<string, string>;
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
  const state = {
    /** Removed or suspended by its owner. */
    isGone: false,
    /** Requests that are answered before the rate limit is reached; null: no limit. */
    remaining: null as number | null,
    retryAfterSeconds: 1,
    tokenLifeMs: 3_600_000,
    /** Holds answers back while it is set. */
    hold: null as ((line: string) => Promise<void>) | null,
  };

  const issueOf = (repository: FakeRepository, number: number, issue: FakeIssue) => ({
    ...{ number, title: issue.title, body: issue.body, state: issue.state, user: { login: issue.user } },
    ...{ labels: [{ name: 'bug' }], assignees: [], milestone: null, closed_at: null },
    ...{ created_at: issue.updated, updated_at: issue.updated, html_url: `${repository.name}/issues/${number}` },
    ...(issue.isPull ? { pull_request: { merged_at: null } } : {}),
  });
  const repositoryOf = ({ id, name, isPrivate }: FakeRepository) => ({
    ...{ id, full_name: name, html_url: `https://github.test/${name}`, description: null, private: isPrivate },
    ...{ archived: false, default_branch: 'main' },
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
        const headers = { 'retry-after': String(state.retryAfterSeconds), 'x-ratelimit-remaining': '0' };
        return [403, { message: 'You have exceeded a secondary rate limit.' }, headers];
      }
      state.remaining -= 1;
    }
    const found = read(path, url.searchParams);
    return found === undefined ? [404, { message: 'Not Found' }] : [200, found];
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    await state.hold?.(line);
    const [status, body, headers] = await answer(request, Buffer.concat(pieces).toString());
    const isBytes = Buffer.isBuffer(body);
    response.writeHead(status, {
      'content-type': isBytes ? 'application/vnd.github.raw' : 'application/json; charset=utf-8',
      ...headers,
    });
    response.end(isBytes ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
      ...{
        GITHUB_APP_ID: '1234',
        GITHUB_APP_SLUG: 'engram',
        GITHUB_CLIENT_ID: 'client',
        GITHUB_CLIENT_SECRET: 'secret',
      },
      GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      ...{
        GITHUB_WEBHOOK_SECRET: webhookSecret,
        GITHUB_FRONTEND_BASE_URL: 'http://console.test',
        ENGRAM_GITHUB_URL: url,
      },
    },
    add(name: string): FakeRepository {
      const repository: FakeRepository = {
        ...{ id: 500 + repositories.length, name, issues: new Map(), files: new Map() },
        ...{ isPrivate: true, collaborators: new Set() },
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
        ...{ method: 'POST', body },
        headers: {
          ...{ 'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': id },
          'x-hub-signature-256': `sha256=${signature}`,
        },
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sha(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
