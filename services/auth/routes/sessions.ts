import { z } from 'zod';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { IDENTITY, NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import { logOut } from '../credentials/login-sessions.ts';
import type { AuthDependencies } from '../model.ts';
import { logIn } from '../sign-in/log-in.ts';
import { loginAnswer, loginBody, ownEmail } from './account.schema.ts';
import { clearedCookie, loginCookie } from './session-cookie.ts';

const { routes, get, post } = routesOf<AuthDependencies>({ tag: 'auth' });

/** Login and logout. */
export const sessionRoutes = routes(
  post('/api/v1/auth/login', 'logIn', {
    idempotent: true,
    summary: 'Log in with a form; returns a token and sets the login cookie',
    auth: 'none',
    permission: NO_PERMISSION,
    body: { kind: 'form', schema: loginBody },
    whenInvalid: (contentType) => ({ status: 400, json: { detail: faultOf(contentType) } }),
    responses: {
      200: { description: 'Logged in', schema: loginAnswer },
      400: { description: 'Not a login form: LOGIN_BAD_CREDENTIALS, or a text that explains the form' },
      401: { description: 'LOGIN_BAD_CREDENTIALS' },
      429: { description: 'Too many failed logins' },
    },
    async handle({ body, remoteAddress }, deps) {
      const token = await logIn(deps, { username: body.username, password: body.password, remoteAddress });
      return {
        json: { access_token: token, token_type: 'bearer' },
        headers: { 'set-cookie': loginCookie(deps.settings, token), 'cache-control': 'no-store' },
      };
    },
  }),
  post('/api/v1/auth/logout', 'logOut', {
    idempotent: true,
    summary: 'End the presented login token and clear the cookie',
    permission: ofAccount('session'),
    responses: { 200: { description: 'Logged out', schema: z.object({}) } },
    async handle({ headers, remoteAddress }, deps) {
      const { authorization, cookie } = headers;
      const credentials = credentialsOf({ authorization, cookie }, deps.settings.cookieName);
      await logOut(deps, { presented: credentials.map(({ value }) => value), remoteAddress });
      return { json: {}, headers: { 'set-cookie': clearedCookie(deps.settings) } };
    },
  }),
  get('/api/v1/auth/me', 'getOwnEmail', {
    summary: 'Own e-mail address',
    permission: IDENTITY,
    responses: { 200: { description: 'The address', schema: ownEmail } },
    handle: async ({ principal }) => json({ email: principal.email }),
  }),
);

function faultOf(contentType: string): string {
  if (!/^application\/([\w.-]+\+)?json\b/i.test(contentType)) return 'LOGIN_BAD_CREDENTIALS';
  return 'The login needs a form with username and password (application/x-www-form-urlencoded or multipart/form-data), not JSON.';
}
