import { z } from 'zod';
import { isEngramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import {
  ATTEMPT_LIFETIME_SECONDS,
  finishOidcSignIn,
  logOutWithProvider,
  type OpenedSession,
  startOidcSignIn,
} from '../oidc/browser-sign-in.ts';
import type { OidcDependencies } from '../oidc/oidc-client.ts';
import { loginAnswer } from './account.schema.ts';
import { clearedCookie, loginCookie } from './session-cookie.ts';

/** Longer than any state, code or address of a provider. */
const MAX_LENGTH = 8192;

const text = z.string().max(MAX_LENGTH);

const providerParams = z.object({ provider: text });

const startQuery = z.object({ return_to: text.optional() });

/** RFC 6749 §4.1.2 and RFC 9207; a repeated parameter is refused. */
const callbackQuery = z.object({
  state: text.optional(),
  code: text.optional(),
  iss: text.optional(),
  error: text.optional(),
  error_description: text.optional(),
});

const providerList = z.object({
  providers: z.array(z.object({ name: z.string(), title: z.string(), login_url: z.string() })),
  authentication_required: z.boolean(),
});

const logoutAnswer = z.object({ logout_url: z.string().nullable() });

const { routes, get, post } = routesOf<OidcDependencies>({ tag: 'auth' });

/** Sign-in with OpenID Connect providers, by the authorization code flow with PKCE, for browsers. */
export const oidcRoutes = routes(
  get('/api/v1/auth/oidc', 'listSignInProviders', {
    summary: 'Providers to sign in with, and whether credentials are required, for a login page',
    auth: 'none',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'The providers, perhaps none', schema: providerList } },
    async handle(_, { oidc, settings }) {
      const providers = (oidc?.providers ?? []).map(({ name, title }) => ({
        name,
        title,
        login_url: `${oidc?.publicUrl}/api/v1/auth/oidc/${name}/login`,
      }));
      return json({ providers, authentication_required: settings.posture.required });
    },
  }),
  get('/api/v1/auth/oidc/:provider/login', 'startProviderSignIn', {
    summary: 'Send the browser to a provider to sign in',
    auth: 'none',
    permission: NO_PERMISSION,
    params: providerParams,
    query: startQuery,
    responses: {
      302: { description: 'To the provider' },
      400: { description: 'return_to leads elsewhere' },
      404: { description: 'No such provider' },
      429: { description: 'Too many sign-ins were started from the address' },
      503: { description: 'The provider does not answer' },
    },
    async handle({ params: { provider }, query: { return_to: returnTo }, remoteAddress }, deps) {
      const started = await startOidcSignIn(deps, { provider, returnTo, remoteAddress });
      const { location, state, browserSecret } = started;
      return redirect(location, [attemptCookie(state, browserSecret, publicUrlOf(deps))]);
    },
  }),
  get('/api/v1/auth/oidc/:provider/callback', 'finishProviderSignIn', {
    summary: 'Finish a sign-in: sets the login cookie and redirects to return_to, or returns a token',
    auth: 'none',
    permission: NO_PERMISSION,
    params: providerParams,
    query: callbackQuery,
    responses: {
      200: { description: 'Signed in', schema: loginAnswer },
      302: { description: 'To return_to; with error and error_description when the sign-in failed' },
      400: { description: 'A sign-in of another browser, or one that has ended' },
      403: { description: 'Refused by the provider, or no account for this person' },
      404: { description: 'No such provider' },
      409: { description: 'There is an account with the address that cannot be linked' },
      503: { description: 'The provider does not answer' },
    },
    async handle({ params: { provider }, query, headers, remoteAddress }, deps) {
      const state = query.state ?? '';
      const browserSecret = cookieValue(headers['cookie'], attemptCookieName(state));
      const returned = { provider, parameters: query, browserSecret, remoteAddress };
      const { outcome, returnTo } = await finishOidcSignIn(deps, returned);
      const cleared = clearedAttemptCookie(state, publicUrlOf(deps));
      if ('error' in outcome) return failure(outcome.error, returnTo, cleared);
      return success(deps, outcome, { provider, returnTo, cleared });
    },
  }),
  post('/api/v1/auth/oidc/:provider/logout', 'signOutOfProvider', {
    summary: 'End the presented login token; returns where the browser signs out of the provider',
    permission: ofAccount('session'),
    params: providerParams,
    query: startQuery,
    responses: {
      200: { description: 'Logged out here', schema: logoutAnswer },
      400: { description: 'return_to leads elsewhere' },
      404: { description: 'No such provider' },
    },
    async handle({ params: { provider }, query, headers, principal, remoteAddress }, deps) {
      const { authorization, cookie } = headers;
      const presented = credentialsOf({ authorization, cookie }, deps.settings.cookieName);
      const logoutUrl = await logOutWithProvider(deps, {
        provider,
        remoteAddress,
        email: principal.email,
        returnTo: query.return_to,
        presented: presented.map(({ value }) => value),
        idToken: cookieValue(cookie, idTokenCookieName(provider)),
      });
      const cookies = [clearedCookie(deps.settings), clearedIdTokenCookie(provider, publicUrlOf(deps))];
      return { json: { logout_url: logoutUrl }, headers: { 'set-cookie': cookies, 'cache-control': 'no-store' } };
    },
  }),
);

interface Return {
  readonly provider: string;
  readonly returnTo: string | null;
  readonly cleared: string;
}

function success(deps: OidcDependencies, opened: OpenedSession, { provider, returnTo, cleared }: Return): Reply {
  const { token, idToken } = opened;
  const kept = idTokenCookie(provider, idToken, publicUrlOf(deps));
  const cookies = [loginCookie(deps.settings, token), ...kept, cleared];
  if (returnTo !== null) return redirect(returnTo, cookies);
  return {
    json: { access_token: token, token_type: 'bearer' },
    headers: { 'set-cookie': cookies, 'cache-control': 'no-store' },
  };
}

/**
 * Redirects to the page where the sign-in was started, which can show the error better than a JSON text in an empty window.
 */
function failure(error: Error, returnTo: string | null, cleared: string): Reply {
  if (returnTo === null || !isEngramError(error)) throw error;
  const url = new URL(returnTo);
  url.searchParams.set('error', error.wireName);
  url.searchParams.set('error_description', error.message);
  return redirect(url.href, [cleared]);
}

function redirect(location: string, cookies: readonly string[]): Reply {
  return { status: 302, headers: { location, 'set-cookie': cookies, 'cache-control': 'no-store' } };
}

/** Set when there is a provider; the use cases have refused other requests. */
function publicUrlOf({ oidc }: OidcDependencies): string {
  return oidc?.publicUrl ?? '';
}

/** Browsers refuse larger cookies. */
const MAX_ID_TOKEN_LENGTH = 3_800;

/** One cookie per sign-in, so that two tabs do not disturb each other. */
export function attemptCookieName(state: string): string {
  return `engram_sign_in_${sha256(state).slice(0, 16)}`;
}

/** Lax, not Strict: the callback is a navigation from another site. */
function attemptCookie(state: string, secret: string, publicUrl: string): string {
  return `${attemptCookieName(state)}=${secret}; ${attributes(publicUrl)}; Max-Age=${ATTEMPT_LIFETIME_SECONDS}`;
}

function clearedAttemptCookie(state: string, publicUrl: string): string {
  return `${attemptCookieName(state)}=; ${attributes(publicUrl)}; Max-Age=0`;
}

/** Stored by the user's browser for the logout page of the provider: some require it as proof of who signs out. */
function idTokenCookie(provider: string, idToken: string, publicUrl: string): readonly string[] {
  if (idToken.length > MAX_ID_TOKEN_LENGTH) return [];
  return [`${idTokenCookieName(provider)}=${idToken}; ${attributes(publicUrl)}`];
}

function clearedIdTokenCookie(provider: string, publicUrl: string): string {
  return `${idTokenCookieName(provider)}=; ${attributes(publicUrl)}; Max-Age=0`;
}

function idTokenCookieName(provider: string): string {
  return `engram_id_token_${provider}`;
}

function cookieValue(cookie: string | undefined, name: string): string | null {
  const [found] = cookie === undefined ? [] : credentialsOf({ cookie }, name);
  return found?.value ?? null;
}

function attributes(publicUrl: string): string {
  const { pathname, protocol } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}/api/v1/auth/oidc`;
  return `HttpOnly; Path=${path}; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`;
}
