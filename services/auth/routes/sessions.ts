import { z } from 'zod';
import { isEngramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { IDENTITY, NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { isDefaultAddress } from '../accounts/account.ts';
import { ensureDefaultUser } from '../accounts/default-user.ts';
import { logOut, openSession } from '../credentials/login-sessions.ts';
import type { LoginAttempt } from '../credentials/login-throttle.ts';
import type { AuthDependencies } from '../model.ts';
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

interface LoginRequest {
  readonly username: string;
  readonly password: string;
  /** Address of the client, for the throttle and the audit log. */
  readonly remoteAddress: string;
}

/**
 * Returns a login token. Errors: 401 `LOGIN_BAD_CREDENTIALS`, with the same answer after the same time for an unknown,
 * inactive or password-less account and a wrong password; `TooManyRequestsError` after many failures.
 */
async function logIn(deps: AuthDependencies, request: LoginRequest): Promise<string> {
  const { username, remoteAddress } = request;
  // In open mode all requests use the default account, and clients log in with whatever credentials they are set up with.
  if (deps.settings.posture.openByDefault && isDefaultAddress(deps.settings, username)) {
    const user = await ensureDefaultUser(deps);
    if (!user.isActive) throw badCredentials();
    return openSession(deps, { user, method: 'open', remoteAddress });
  }
  using attempt = await enter(deps, request);
  // When the account changed meanwhile, perhaps its password, it is verified again.
  return await retryOnConflict(async () => {
    const user = await accountFor(deps, request, attempt);
    return await openPasswordSession(deps, user, request);
  });
}

async function enter(deps: AuthDependencies, { username, remoteAddress }: LoginRequest): Promise<LoginAttempt> {
  try {
    return await deps.throttle.enter(username, remoteAddress);
  } catch (error) {
    const isThrottled = isEngramError(error) && error.wireName === 'TooManyRequestsError';
    if (isThrottled) deps.refusedLogins.throttled({ account: username, address: remoteAddress });
    throw error;
  }
}

/** Returns the active account with this password. */
async function accountFor(deps: AuthDependencies, request: LoginRequest, attempt: LoginAttempt): Promise<User> {
  const { username, password, remoteAddress } = request;
  const user = await deps.users.findByEmail(username);
  const isRight = await deps.passwords.verify(password, user?.passwordHash ?? NO_PASSWORD);
  if (user !== null && isRight && user.isActive) {
    attempt.succeed();
    return user;
  }
  await attempt.fail();
  await deps.refusedLogins.refused({ account: username, address: remoteAddress }, user?.id ?? username);
  throw badCredentials();
}

/**
 * Replaces a hash of an earlier system or cost while the password is known, and issues the token after it, since tokens are
 * bound to the stored hash. Older tokens of the account end with the old hash. That happens once per account; to keep them,
 * the old fingerprint would have to be stored and cleared with every change of password.
 */
async function openPasswordSession(deps: AuthDependencies, user: User, request: LoginRequest): Promise<string> {
  const { password, remoteAddress } = request;
  const session = { user, method: 'password', remoteAddress };
  if (!deps.passwords.isOutdated(user.passwordHash, password)) return openSession(deps, session);
  const passwordHash = await deps.passwords.hash(password);
  const rehashed = { ...user, passwordHash, updatedAt: deps.clock.now().toISOString() };
  const token = await openSession(deps, { ...session, user: rehashed, writes: [deps.users.replaceWrite(rehashed)] });
  deps.notify.userChanged(user.id);
  return token;
}

function badCredentials(): HttpError {
  return new HttpError(401, { detail: 'LOGIN_BAD_CREDENTIALS' });
}
