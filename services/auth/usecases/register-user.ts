import type { UserId } from '../../common/domain/brand.ts';
import { isAgentAddress } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/domain/errors.ts';
import { isLimited } from '../../common/domain/principal.ts';
import { HttpError } from '../../common/http/http-error.ts';
import type { Credential } from '../../common/messaging/methods/auth.ts';
import { DuplicateKeyError } from '../../common/ports/document-store.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authenticate } from './authenticate.ts';
import { createUser } from './create-user.ts';
import { isDefaultAddress } from './default-user.ts';
import { passwordProblem } from './password-rule.ts';

export interface NewAccount {
  /** Checked and spelled as it is stored. */
  readonly email: string;
  readonly password: string;
}

/**
 * Makes an ordinary account. Where the public may not sign up, superusers make them, by what the request presents. Errors:
 * 400 `REGISTER_USER_ALREADY_EXISTS` and `REGISTER_INVALID_PASSWORD`; `PermissionDeniedError` where the public may not.
 * Addresses that later stand for somebody else – the default account's and those of agents – are taken from the first day,
 * so that nobody can own them in advance.
 */
export async function registerUser(
  deps: AuthDependencies,
  { email, password }: NewAccount,
  presented: readonly Credential[],
): Promise<User> {
  const by = deps.settings.publicSignUp ? null : await requireSuperuser(deps, presented);
  const isTaken = isReservedAddress(deps.settings, email) || (await deps.users.findByEmail(email)) !== null;
  if (isTaken) throw alreadyExists();
  const reason = passwordProblem(password);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'REGISTER_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  try {
    return await createUser(deps, { email, passwordHash, isSuperuser: false, isVerified: false }, by);
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw alreadyExists();
    throw error;
  }
}

async function requireSuperuser(deps: AuthDependencies, credentials: readonly Credential[]): Promise<UserId> {
  const principal = await authenticate(deps, { credentials, strict: true });
  if (principal?.isSuperuser && !isLimited(principal)) return principal.id;
  throw engramError('PermissionDeniedError', 'Public sign-up is switched off: ask an administrator for an account.');
}

export function isReservedAddress(settings: AuthDependencies['settings'], email: string): boolean {
  return isDefaultAddress(settings, email) || isAgentAddress(email);
}

function alreadyExists(): HttpError {
  return new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
