import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../common/kernel/hashes.ts';
import { parseJson } from '../../common/kernel/json.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import { requestTokens } from '../credentials/token-endpoint.ts';
import { type Connector, type OAuthSteps, type SourceAccess, SourceBusyError, waitMsOf } from './connector.ts';
import { slug } from './folder.ts';

/** An OAuth client of Google, for one of its services. */
export interface GoogleApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly stateSecret: string;
  readonly redirectUri: string;
  readonly frontendUrl: string;
  /** Stands in for all addresses of Google; null: Google itself. */
  readonly url: string | null;
  /** Other connectors use the same client: Google takes back all that a person granted to a client at once. */
  readonly isShared: boolean;
}

const ADDRESSES = {
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  revoke: 'https://oauth2.googleapis.com/revoke',
  userInfo: 'https://openidconnect.googleapis.com/v1/userinfo',
} as const;

const TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 15 * 60_000;
const MAX_RETRIES = 3;
const HOUR_MS = 3_600_000;

/** Options of a client library of Google. */
export function clientOptions({ url }: GoogleApp): { readonly rootUrl?: string } {
  return url === null ? {} : { rootUrl: url };
}

/** As the contract names them: an account may have any label, and two accounts labels that are alike. */
export function googleDatasetName(provider: string): Connector['datasetName'] {
  return ({ accountId, accountLabel }) => `${provider}_${slug(accountLabel)}_${sha256(accountId).slice(0, 10)}`;
}

/** An address of Google, or of what stands in for it. */
function addressAt({ url }: Pick<GoogleApp, 'url'>, address: string): string {
  const { href, pathname, search } = new URL(address);
  return url === null ? href : new URL(`${pathname}${search}`, url).href;
}

/** Connecting a Google account with one read-only scope; a person may leave out those of `more`. */
export function googleSteps(app: GoogleApp, scope: string, more: readonly string[] = []): OAuthSteps {
  const { clientId, clientSecret, redirectUri } = app;
  const at = (name: keyof typeof ADDRESSES): string => addressAt(app, ADDRESSES[name]);
  const endpoint = { url: at('token'), clientId, clientSecret };
  return {
    stateSecret: app.stateSecret,
    frontendUrl: app.frontendUrl,
    authorizeUrl({ state, codeChallenge }) {
      const url = new URL(at('authorize'));
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        state,
        scope: ['openid', 'email', scope, ...more].join(' '),
        access_type: 'offline',
        prompt: 'consent',
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      }).toString();
      return url.href;
    },
    async exchange({ query, codeVerifier, signal }) {
      const grant = { grant_type: 'authorization_code', code: query['code'] ?? '', redirect_uri: redirectUri };
      const { scopes, ...tokens } = await requestTokens(endpoint, { ...grant, code_verifier: codeVerifier }, signal);
      // A person may untick what is asked for.
      if (!scopes.includes(scope)) throw new Error(`The person did not grant ${scope}.`);
      if (tokens.refreshToken === null) throw new Error('Google gave no refresh token.');
      const response = await fetch(at('userInfo'), {
        headers: { authorization: `Bearer ${tokens.accessToken}` },
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const person = (await response.json().catch(() => ({}))) as { sub?: string; email?: string; hd?: string };
      const { sub: accountId, email, hd: domain = null } = person;
      if (!response.ok || accountId === undefined || email === undefined) {
        throw new Error(`Google did not say whose account it is (status ${response.status}).`);
      }
      return {
        accountId,
        label: email,
        authType: 'oauth2',
        scopes,
        tokens,
        metadata: {
          email,
          hosted_domain: domain,
          account_type: domain === null ? 'personal' : 'workspace',
          scope: scopes.join(' '),
        },
      };
    },
    refresh: (refreshToken, signal) =>
      requestTokens(endpoint, { grant_type: 'refresh_token', refresh_token: refreshToken }, signal),
    ...(app.isShared ? {} : { revoke: (access: SourceAccess) => takeBack(at('revoke'), access) }),
  };
}

/** An access token takes its refresh token with it. */
async function takeBack(url: string, access: SourceAccess): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    body: new URLSearchParams({ token: await access.token() }),
    signal: AbortSignal.any([access.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`Google answered with status ${response.status}.`);
}

/** An answer of Google that is no success. Nothing of the request is in it. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError';
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, said: string) {
    super(`Google answered with status ${status}: ${said}`);
    this.status = status;
    this.reason = reason;
  }
}

type RequestOptions = ReturnType<typeof requestOptions>;

function requestOptions(token: string, signal: AbortSignal, timeoutMs: number) {
  return {
    headers: { authorization: `Bearer ${token}` },
    responseType: 'json' as const,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    retryConfig: { shouldRetry },
  };
}

/** Sends a request of a client library; a token that is refused, before its time, is exchanged once. */
export async function ask<T>(
  access: SourceAccess,
  send: (options: RequestOptions) => Promise<{ readonly data: T }>,
  { isDownload = false }: { readonly isDownload?: boolean } = {},
): Promise<T> {
  const { signal } = access;
  let rejected: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const token = await access.token(rejected);
    try {
      const options = requestOptions(token, signal, isDownload ? DOWNLOAD_TIMEOUT_MS : TIMEOUT_MS);
      return (await send(options)).data;
    } catch (error) {
      if (signal.aborted) throw error;
      const failed = failureOf(error);
      if (failed === null) throw new Error(`Google could not be asked: ${(error as Error).message}`);
      if (failed.status !== 401 || rejected !== undefined) throw translated(failed);
      rejected = token;
    }
  }
}

/** Asks an API of Google whose client library is not loaded. */
export async function askJson<T>(app: GoogleApp, access: SourceAccess, address: string): Promise<T> {
  return ask(access, async ({ headers, signal }) => {
    for (let currentRetryAttempt = 0; ; currentRetryAttempt += 1) {
      const response = await fetch(addressAt(app, address), { headers, signal, redirect: 'error' });
      const data = await response.json().catch(() => ({}));
      if (response.ok) return { data: data as T };
      const { status, headers: answered } = response;
      const failed = {
        response: { status, data, headers: answered },
        config: { signal, retryConfig: { currentRetryAttempt } },
      };
      if (!shouldRetry(failed)) throw Object.assign(new Error(`status ${status}`), failed);
      await sleep(100 * 2 ** currentRetryAttempt, undefined, { signal });
    }
  });
}

/** The pages of a list; the last one has no `nextPageToken`. */
export async function* pagesOf<Page extends { readonly nextPageToken?: string | null }>(
  access: SourceAccess,
  send: (from: { readonly pageToken?: string }, options: RequestOptions) => Promise<{ readonly data: Page }>,
): AsyncGenerator<Page> {
  for (let from: { readonly pageToken?: string } | null = {}; from !== null; ) {
    const asked = from;
    const page: Page = await ask(access, (options) => send(asked, options));
    yield page;
    from = page.nextPageToken ? { pageToken: page.nextPageToken } : null;
  }
}

/** Null instead of an error with one of the statuses. */
export function unless<T>(statuses: readonly number[], asking: Promise<T>): Promise<T | null> {
  return nullIf((error) => error instanceof GoogleError && statuses.includes(error.status), asking);
}

interface Failure {
  readonly status: number;
  readonly reason: string;
  readonly said: string;
  /** Seconds, or a date. */
  readonly retryAfter: string | null;
}

interface LibraryError {
  readonly config?: { readonly retryConfig?: { readonly currentRetryAttempt?: number }; readonly signal?: AbortSignal };
  readonly response?: {
    readonly status: number;
    readonly data: unknown;
    readonly headers: { get(name: string): string | null };
  };
}

interface ErrorAnswer {
  readonly error?: {
    readonly message?: string;
    readonly status?: string;
    readonly errors?: readonly { readonly reason?: string }[];
    /** Of newer APIs. */
    readonly details?: readonly { readonly reason?: string }[];
  };
}

/** Null: there was no answer. */
function failureOf(error: unknown): Failure | null {
  const { response } = error as LibraryError;
  if (response === undefined) return null;
  const { status, data, headers } = response;
  const { error: said } = ((typeof data === 'string' ? parseJson(data) : data) ?? {}) as ErrorAnswer;
  const detail = said?.details?.find((one) => one.reason !== undefined);
  const reason = said?.errors?.[0]?.reason ?? detail?.reason ?? said?.status ?? '';
  return { status, reason, said: said?.message ?? 'without a reason', retryAfter: headers.get('retry-after') };
}

const LIMITS: ReadonlySet<string> = new Set([
  ...[
    'rateLimitExceeded',
    'userRateLimitExceeded',
    'dailyLimitExceeded',
    'quotaExceeded',
    'RATE_LIMIT_EXCEEDED',
    'RESOURCE_EXHAUSTED',
  ],
]);

function isLimit({ status, reason }: Failure): boolean {
  return status === 429 || (status === 403 && LIMITS.has(reason));
}

/** A moment of trouble is waited out here; as long as Google says, or a day's quota, the import waits. */
function shouldRetry(error: unknown): boolean {
  const { config } = error as LibraryError;
  if (config?.signal?.aborted || (config?.retryConfig?.currentRetryAttempt ?? 0) >= MAX_RETRIES) return false;
  const failed = failureOf(error);
  if (failed === null) return true;
  if (failed.retryAfter !== null || failed.reason === 'dailyLimitExceeded') return false;
  return failed.status >= 500 || isLimit(failed);
}

function translated(failed: Failure): Error {
  const { status, reason, said, retryAfter } = failed;
  const error = new GoogleError(status, reason, said);
  if (!isLimit(failed) && !(status === 503 && retryAfter !== null)) return error;
  if (reason === 'dailyLimitExceeded') return new SourceBusyError(HOUR_MS, { cause: error });
  // Without a time of Google's, connections that met the limit together do not come back together.
  return new SourceBusyError(waitMsOf(retryAfter, 30_000 + randomInt(30_000)), { cause: error });
}
