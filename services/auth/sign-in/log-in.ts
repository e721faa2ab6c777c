import { isEngramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { isDefaultAddress } from '../accounts/account.ts';
import { ensureDefaultUser } from '../accounts/default-user.ts';
import { openSession } from '../credentials/login-sessions.ts';
import type { LoginAttempt } from '../credentials/login-throttle.ts';
import type { AuthDependencies } from '../model.ts';

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
export async function logIn(deps: AuthDependencies, request: LoginRequest): Promise<string> {
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
