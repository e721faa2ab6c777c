import { engramError } from '../../common/kernel/errors.ts';
import { createTtlCache } from '../../common/kernel/ttl-cache.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import {
  type Audience,
  type Connector,
  type OAuthSteps,
  permissionsByResource,
  type SourceAccess,
} from './connector.ts';
import { slug } from './folder.ts';
import {
  createApi,
  type GithubApi,
  type GithubApp,
  isOfToken,
  PER_PAGE,
  type Repository,
  type RequestError,
  SILENT,
  userOf,
} from './github-api.ts';
import { readDelivery } from './github-deliveries.ts';
import { createDiscussions } from './github-discussions.ts';
import { createFiles } from './github-files.ts';
import { createIssues, type IssueCursor, type Person } from './github-issues.ts';
import { createWikis } from './github-wiki.ts';

interface GithubOptions {
  /** Address of github.com or a GitHub Enterprise Server. */
  readonly webUrl: string;
  /** Null: people cannot connect it, a Dataset resource can, with a token. */
  readonly app: GithubApp | null;
}

/** Profiles are asked for again after an hour. */
const ADDRESS_MS = 3_600_000;
const MAX_ADDRESSES = 50_000;
/** Profiles that are asked for at the same time. */
const CONCURRENT = 4;

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

interface Installation {
  readonly id: number;
  readonly app_id: number;
  readonly repository_selection: string;
  readonly account: { readonly login: string; readonly id: number; readonly type: string };
}

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
