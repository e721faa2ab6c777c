import { randomInt } from 'node:crypto';
import type { Octokit } from '@octokit/core';
import { append } from '../../common/kernel/long-lists.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import { type SourceAccess, SourceBusyError, SourceRevokedError, waitMsOf } from './connector.ts';

export interface GithubApp {
  readonly appId: string;
  readonly appSlug: string;
  readonly privateKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhookSecret: string;
  readonly frontendUrl: string;
}

export const PER_PAGE = 100;
const REFUSED = 'GitHub does not accept the token any more: put a new one into the Secret.';
export const SUSPENDED = 'The GitHub App was uninstalled or suspended. Install it again to go on.';
const NOT_ALLOWED = 'Grant the GitHub App (or the token) Discussions: read.';

export type GithubApi = ReturnType<typeof createApi>;

/** Requests to GitHub, with the token of an installation or of a connection. */
export function createApi(baseUrl: string, app: GithubApp | null) {
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
  const found = <T>(...request: Parameters<typeof ask>): Promise<T | null> =>
    nullIf((error) => [404, 409, 410].includes((error as RequestError).status ?? 0), ask<T>(...request));
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

async function tokenClient(baseUrl: string, auth: string): Promise<Octokit> {
  const { Octokit: Client } = await import('@octokit/core');
  return new Client({ baseUrl, log: SILENT, auth });
}

/** Who a token is of. */
export async function userOf(baseUrl: string, token: string, signal: AbortSignal) {
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

export const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type Query = Readonly<Record<string, unknown>>;

export interface Repository {
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

export interface RequestError extends Error {
  readonly status?: number;
  readonly response?: { readonly headers?: ResponseHeaders; readonly url?: string };
  /** Of an answer of GraphQL, with the errors that it names. */
  readonly headers?: ResponseHeaders;
  readonly errors?: readonly { readonly type?: string; readonly message: string }[];
}

type ResponseHeaders = Readonly<Record<string, string | undefined>>;

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

export function isOfToken({ authType }: Pick<SourceAccess['connection'], 'authType'>): boolean {
  return authType === 'api_key';
}
