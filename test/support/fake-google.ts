import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createFakeCalendar } from './fake-google-calendar.ts';
import { createFakeDrive } from './fake-google-drive.ts';
import { createFakeGroups } from './fake-google-groups.ts';
import { createFakeGmail } from './fake-google-mail.ts';
import { closed, startServer } from './listening.ts';

/** What an API of Google answers: JSON, or the bytes of a file. */
export type GoogleAnswer = { readonly json: object } | { readonly bytes: Uint8Array; readonly type: string };

/** An error in the form of Google's APIs; newer ones name a status, and the reason in the details. */
export class GoogleFault extends Error {
  readonly status: number;
  readonly reason: string;
  readonly newer?: { readonly status: string; readonly details: readonly object[] };
  constructor(status: number, reason: string, message = reason, newer?: GoogleFault['newer']) {
    super(message);
    if (newer !== undefined) this.newer = newer;
    this.status = status;
    this.reason = reason;
  }
}

/** A page of a list, as Google cuts it: never more than it wants to, and the next one by a token. */
export function pageOf<T>(items: readonly T[], query: URLSearchParams, size: number) {
  const from = Number(query.get('pageToken') ?? 0);
  const next = from + Math.min(size, Number(query.get('maxResults') ?? query.get('pageSize') ?? size));
  return { items: items.slice(from, next), ...(next < items.length ? { nextPageToken: String(next) } : {}) };
}

const PREFIXES: Readonly<Record<string, string>> = {
  google_drive: 'GOOGLE_DRIVE',
  gmail: 'GOOGLE_GMAIL',
  google_calendar: 'GOOGLE_CALENDAR',
};

const CLIENTS = new Set(Object.keys(PREFIXES).map((provider) => `client of ${provider}`));

/** Google on this machine: consent, tokens that expire and are taken back, pages, limits, Drive, Gmail, Calendar and groups. */
export async function startFakeGoogle() {
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string; readonly scope: string }>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, { readonly refresh: string; readonly expires: number }>();
  const requests: string[] = [];
  const state = {
    person: { sub: '1122334455', email: 'ada@acme.test', hd: 'acme.test' as string | undefined },
    tokenLifeMs: 3_600_000,
    /** Requests that are answered before the limit is reached; null: no limit. */
    remaining: null as number | null,
    limit: { status: 403, reason: 'userRateLimitExceeded', retryAfter: '1' as string | null },
    /** Entries of a page at most. */
    page: 50,
    /** Holds answers back while it is set. */
    hold: null as ((line: string) => Promise<void>) | null,
  };
  const drive = createFakeDrive(state);
  const mail = createFakeGmail(state);
  const calendar = createFakeCalendar(state);
  const groups = createFakeGroups(state);

  const issue = (refresh: string) => {
    const token = `ya29.${randomUUID()}`;
    accessTokens.set(token, { refresh, expires: Date.now() + state.tokenLifeMs });
    const scope = refreshTokens.get(refresh) ?? '';
    return { access_token: token, expires_in: state.tokenLifeMs / 1000, token_type: 'Bearer', scope };
  };
  const isValid = (token: string): boolean => {
    const found = accessTokens.get(token);
    return found !== undefined && found.expires > Date.now() && refreshTokens.has(found.refresh);
  };
  const tokens = (form: URLSearchParams): readonly [number, object] => {
    if (!CLIENTS.has(form.get('client_id') ?? '') || form.get('client_secret') !== 'secret')
      return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') === 'refresh_token') {
      const refresh = form.get('refresh_token') ?? '';
      return refreshTokens.has(refresh) ? [200, issue(refresh)] : [400, { error: 'invalid_grant' }];
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || code.challenge !== challenge || code.redirect !== form.get('redirect_uri'))
      return [400, { error: 'invalid_grant' }];
    const refresh = `1//${randomUUID()}`;
    refreshTokens.set(refresh, code.scope);
    return [200, { ...issue(refresh), refresh_token: refresh }];
  };

  const api = (url: URL, token: string): GoogleAnswer => {
    if (!isValid(token)) throw new GoogleFault(401, 'authError', 'Invalid Credentials');
    if (state.remaining !== null) {
      if (state.remaining <= 0) throw new GoogleFault(state.limit.status, state.limit.reason, 'Quota exceeded.');
      state.remaining -= 1;
    }
    const scope = refreshTokens.get(accessTokens.get(token)?.refresh ?? '') ?? '';
    for (const read of [drive.read, mail.read, calendar.read, groups.read]) {
      const answer = read(url.pathname, url.searchParams, scope);
      if (answer !== undefined) return 'json' in answer ? { json: masked(answer.json, url.searchParams) } : answer;
    }
    throw new GoogleFault(404, 'notFound', 'Not Found');
  };
  const answer = (request: IncomingMessage, body: string): readonly [number, GoogleAnswer, object?] => {
    const url = new URL(request.url ?? '', 'http://google.test');
    const token = request.headers.authorization?.replace(/^Bearer ?/, '') ?? '';
    if (request.method === 'POST' && url.pathname === '/token') {
      const [status, json] = tokens(new URLSearchParams(body));
      return [status, { json }];
    }
    if (request.method === 'POST' && url.pathname === '/revoke') {
      const found = accessTokens.get(new URLSearchParams(body).get('token') ?? '');
      const isKnown = found !== undefined && refreshTokens.delete(found.refresh);
      return [isKnown ? 200 : 400, { json: isKnown ? {} : { error: 'invalid_token' } }];
    }
    if (url.pathname === '/v1/userinfo') {
      if (!isValid(token)) return [401, { json: { error: 'invalid_request' } }];
      return [200, { json: { ...state.person, email_verified: true } }];
    }
    try {
      return [200, api(url, token)];
    } catch (error) {
      if (!(error instanceof GoogleFault)) throw error;
      const { status, reason, message, newer } = error;
      const facts = newer ?? { errors: [{ message, domain: 'global', reason }] };
      const isLimit = reason === state.limit.reason && state.limit.retryAfter !== null;
      const headers = isLimit ? { 'retry-after': state.limit.retryAfter } : {};
      return [status, { json: { error: { code: status, message, ...facts } } }, headers];
    }
  };
  /** The person agrees, to less with `scope`: the query that Google sends the browser back with. */
  const consent = (authorizeUrl: string, scope?: string): URLSearchParams => {
    const asked = new URL(authorizeUrl).searchParams;
    const isWhole = ['client_id', 'state', 'scope', 'redirect_uri', 'code_challenge'].every((name) => asked.get(name));
    if (!isWhole || asked.get('access_type') !== 'offline' || asked.get('code_challenge_method') !== 'S256')
      throw new Error(`Google shows an error page for ${authorizeUrl}`);
    const code = `4/${randomUUID()}`;
    const [challenge, redirect] = [asked.get('code_challenge') ?? '', asked.get('redirect_uri') ?? ''];
    codes.set(code, { challenge, redirect, scope: scope ?? asked.get('scope') ?? '' });
    return new URLSearchParams({ code, state: asked.get('state') ?? '' });
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await buffer(request);
    const line = `${request.method} ${request.url}`;
    const url = new URL(request.url ?? '', 'http://google.test');
    requests.push(line);
    await state.hold?.(line);
    if (url.pathname === '/o/oauth2/v2/auth') {
      // In a browser the person agrees at once.
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = consent(url.href).toString();
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    const [status, found, headers] = answer(request, sent.toString());
    const type = 'json' in found ? 'application/json; charset=UTF-8' : found.type;
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end('json' in found ? JSON.stringify(found.json) : found.bytes);
  };
  const { server, url } = await startServer(serve);
  return {
    url,
    requests,
    state,
    drive,
    mail,
    calendar,
    groups,
    /** Variables of a server that uses it. */
    variables: {
      ENGRAM_GOOGLE_URL: url,
      ENGRAM_PUBLIC_URL: 'http://console.test',
      ...Object.fromEntries(
        Object.entries(PREFIXES).flatMap(([provider, prefix]) => [
          // A client for each, so that one can be taken back alone.
          [`${prefix}_CLIENT_ID`, `client of ${provider}`],
          [`${prefix}_CLIENT_SECRET`, 'secret'],
          [`${prefix}_STATE_SECRET`, `state of ${provider}`],
        ]),
      ),
    },
    /** Has an access token accepted. */
    allow(token: string, scope = ''): void {
      refreshTokens.set(token, scope);
      accessTokens.set(token, { refresh: token, expires: Date.now() + state.tokenLifeMs });
    },
    consent,
    /** The person takes back what was granted, on a page of Google. */
    takeBack: () => refreshTokens.clear(),
    /** Access tokens end before their time. */
    endAccess: () => accessTokens.clear(),
    grants: () => refreshTokens.size,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** Only the fields that were asked for, as Google's partial responses have them. */
function masked(json: object, query: URLSearchParams): object {
  const fields = query.get('fields');
  if (fields === null) return json;
  const read = (text: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => read(text, one));
    const kept: Record<string, unknown> = {};
    for (const [, name = '', inner] of text.matchAll(/(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?(?:,|$)/g)) {
      const found = (value as Record<string, unknown>)[name];
      if (found !== undefined) kept[name] = inner === undefined ? found : read(inner, found);
    }
    return kept;
  };
  return read(fields, json) as object;
}
