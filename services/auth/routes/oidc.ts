import { isEngramError } from '../../common/kernel/errors.ts';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { defineRoute, json, type Reply, type Route } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { OpenedSession } from '../oidc/oidc-finish-sign-in.ts';
import { loginAnswer } from './account.schema.ts';
import { callbackQuery, logoutAnswer, providerList, providerParams, startQuery } from './oidc.schema.ts';
import {
  attemptCookie,
  attemptCookieName,
  clearedAttemptCookie,
  clearedIdTokenCookie,
  cookieValue,
  idTokenCookie,
  idTokenCookieName,
} from './oidc-cookies.ts';
import { clearedCookie, loginCookie } from './session-cookie.ts';

const finishOidcSignIn = onDemand(async () => (await import('../oidc/oidc-finish-sign-in.ts')).finishOidcSignIn);
const logOutWithProvider = onDemand(async () => (await import('../oidc/oidc-log-out.ts')).logOutWithProvider);
const startOidcSignIn = onDemand(async () => (await import('../oidc/oidc-start-sign-in.ts')).startOidcSignIn);

/** Signing in with OpenID Connect providers: authorization code flow with PKCE, for browsers. */
export function oidcRoutes(deps: AuthDependencies): readonly Route[] {
  return [list(deps), start(deps), finish(deps), end(deps)];
}

function list({ oidc }: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/auth/oidc',
    tag: 'auth',
    summary: 'Providers to sign in with, for a login page',
    auth: 'none',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'The providers, perhaps none', schema: providerList } },
    async handle() {
      const providers = (oidc?.providers ?? []).map(({ name, title }) => ({
        ...{ name, title },
        login_url: `${oidc?.publicUrl}/api/v1/auth/oidc/${name}/login`,
      }));
      return json({ providers });
    },
  });
}

function start(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/auth/oidc/:provider/login',
    tag: 'auth',
    summary: 'Send the browser to a provider to sign in',
    auth: 'none',
    permission: NO_PERMISSION,
    params: providerParams,
    query: startQuery,
    responses: {
      302: { description: 'To the provider' },
      400: { description: 'return_to leads elsewhere' },
      404: { description: 'No such provider' },
      429: { description: 'Too many started from the address' },
      503: { description: 'The provider does not answer' },
    },
    async handle({ params: { provider }, query: { return_to: returnTo }, remoteAddress }) {
      const started = await startOidcSignIn(deps, { provider, returnTo, remoteAddress });
      const { location, state, browserSecret } = started;
      return redirect(location, [attemptCookie(state, browserSecret, publicUrlOf(deps))]);
    },
  });
}

function finish(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/auth/oidc/:provider/callback',
    tag: 'auth',
    summary: 'Finish a sign-in: sets the login cookie and goes back to return_to, or answers a token',
    auth: 'none',
    permission: NO_PERMISSION,
    params: providerParams,
    query: callbackQuery,
    responses: {
      200: { description: 'Signed in', schema: loginAnswer },
      302: { description: 'To return_to; when the sign-in failed, with error and error_description' },
      400: { description: 'Not a sign-in of this browser, or a finished one' },
      403: { description: 'Refused by the provider, or no account for this person' },
      404: { description: 'No such provider' },
      409: { description: 'There is an account with the address that cannot be linked' },
      503: { description: 'The provider does not answer' },
    },
    async handle({ params: { provider }, query, headers, remoteAddress }) {
      const state = query.state ?? '';
      const browserSecret = cookieValue(headers['cookie'], attemptCookieName(state));
      const returned = { provider, parameters: query, browserSecret, remoteAddress };
      const { outcome, returnTo } = await finishOidcSignIn(deps, returned);
      const cleared = clearedAttemptCookie(state, publicUrlOf(deps));
      if ('error' in outcome) return failure(outcome.error, returnTo, cleared);
      return success(deps, outcome, { provider, returnTo, cleared });
    },
  });
}

function end(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/auth/oidc/:provider/logout',
    tag: 'auth',
    summary: 'End the presented login token; answers where the browser signs out of the provider',
    auth: 'user',
    permission: ofAccount('session'),
    params: providerParams,
    query: startQuery,
    responses: {
      200: { description: 'Logged out here', schema: logoutAnswer },
      400: { description: 'return_to leads elsewhere' },
      404: { description: 'No such provider' },
    },
    async handle({ params: { provider }, query, headers, principal, remoteAddress }) {
      const { authorization, cookie } = headers;
      const presented = credentialsOf({ authorization, cookie }, deps.settings.cookieName);
      const logoutUrl = await logOutWithProvider(deps, {
        ...{ provider, remoteAddress, email: principal.email, returnTo: query.return_to },
        presented: presented.map(({ value }) => value),
        idToken: cookieValue(cookie, idTokenCookieName(provider)),
      });
      const cookies = [clearedCookie(deps.settings), clearedIdTokenCookie(provider, publicUrlOf(deps))];
      return { json: { logout_url: logoutUrl }, headers: { 'set-cookie': cookies, 'cache-control': 'no-store' } };
    },
  });
}

interface Return {
  readonly provider: string;
  readonly returnTo: string | null;
  readonly cleared: string;
}

function success(deps: AuthDependencies, opened: OpenedSession, { provider, returnTo, cleared }: Return): Reply {
  const { token, idToken } = opened;
  const kept = idTokenCookie(provider, idToken, publicUrlOf(deps));
  const cookies = [loginCookie(deps.settings, token), ...kept, cleared];
  if (returnTo !== null) return redirect(returnTo, cookies);
  return {
    json: { access_token: token, token_type: 'bearer' },
    headers: { 'set-cookie': cookies, 'cache-control': 'no-store' },
  };
}

/** The page that the sign-in was started from can tell people better than a JSON text in an empty window. */
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

/** Known wherever a provider is; the use cases have refused the others. */
function publicUrlOf({ oidc }: AuthDependencies): string {
  return oidc?.publicUrl ?? '';
}
