import { isAgentAddress } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/domain/errors.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { DuplicateKeyError } from '../../common/ports/document-store.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { createUser } from './create-user.ts';
import { isDefaultAddress } from './default-user.ts';
import { passwordProblem } from './password-rule.ts';

export interface NewAccount {
  /** Checked and spelled as it is stored. */
  readonly email: string;
  readonly password: string;
}

/**
 * Makes an ordinary account. Errors: 400 `REGISTER_USER_ALREADY_EXISTS` and `REGISTER_INVALID_PASSWORD`;
 * `PermissionDeniedError` where the public may not sign up. Addresses that later stand for somebody else – the default account's and those of agents – are
 * taken from the first day, so that nobody can own them in advance.
 */
export async function registerUser(deps: AuthDependencies, { email, password }: NewAccount): Promise<User> {
  if (!deps.settings.publicSignUp) {
    throw engramError('PermissionDeniedError', 'Public sign-up is switched off: ask an administrator for an account.');
  }
  const isTaken = isReservedAddress(deps.settings, email) || (await deps.users.findByEmail(email)) !== null;
  if (isTaken) throw alreadyExists();
  const reason = passwordProblem(password);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'REGISTER_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  try {
    return await createUser(deps, { email, passwordHash, isSuperuser: false, isVerified: false });
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw alreadyExists();
    throw error;
  }
}

export function isReservedAddress(settings: AuthDependencies['settings'], email: string): boolean {
  return isDefaultAddress(settings, email) || isAgentAddress(email);
}

function alreadyExists(): HttpError {
  return new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
