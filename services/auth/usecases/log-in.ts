import { HttpError } from '../../common/http/http-error.ts';
import { NO_PASSWORD, type User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { ensureDefaultUser, isDefaultAddress } from './default-user.ts';

export interface LoginRequest {
  readonly username: string;
  readonly password: string;
  /** Where the request came from, for the throttle. */
  readonly remoteAddress: string;
}

/**
 * A login token for an account. Errors: 401 `LOGIN_BAD_CREDENTIALS`, alike for an unknown, inactive or password-less
 * account and a wrong password, and as slow; `TooManyRequestsError` after many failures.
 */
export async function logIn(deps: AuthDependencies, request: LoginRequest): Promise<string> {
  const user = await accountFor(deps, request);
  return deps.tokens.issue(user);
}

async function accountFor(deps: AuthDependencies, { username, password, remoteAddress }: LoginRequest): Promise<User> {
  // In single-user mode everybody is the default account already, and clients log in with whatever they are set up with.
  if (deps.settings.posture.openByDefault && isDefaultAddress(deps.settings, username)) {
    const user = await ensureDefaultUser(deps);
    if (user.isActive) return user;
    throw badCredentials();
  }
  using attempt = deps.throttle.enter(username, remoteAddress);
  const user = await deps.users.findByEmail(username);
  const isRight = await deps.passwords.verify(password, user?.passwordHash ?? NO_PASSWORD);
  if (user === null || !isRight || !user.isActive) {
    attempt.fail();
    throw badCredentials();
  }
  return user;
}

function badCredentials(): HttpError {
  return new HttpError(401, { detail: 'LOGIN_BAD_CREDENTIALS' });
}
