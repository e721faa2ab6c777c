import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isLimited } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createUser, isReservedAddress, passwordProblem } from '../accounts/account.ts';
import { type AuthenticateDependencies, authenticate } from './authenticate.ts';

export interface NewAccount {
  /** Checked and spelled as it is stored. */
  readonly email: string;
  readonly password: string;
}

/**
 * Makes an ordinary account. Where sign-up is closed, superusers make them, by what the request presents; the first one of
 * all is a superuser. Errors: 400 `REGISTER_USER_ALREADY_EXISTS` and `REGISTER_INVALID_PASSWORD`; `PermissionDeniedError`
 * where sign-up is closed.
 * Addresses that later stand for somebody else – the default account's and those of agents – are taken from the first day,
 * so that nobody can own them in advance.
 */
export async function registerUser(
  deps: AuthenticateDependencies,
  { email, password }: NewAccount,
  presented: readonly Credential[],
): Promise<User> {
  const isFirst = await mayRegisterFirst(deps);
  const isPublic = deps.settings.signUp === 'open' || isFirst;
  const by = isPublic ? null : await requireSuperuser(deps, presented);
  const isTaken = isReservedAddress(deps.settings, email) || (await deps.users.findByEmail(email)) !== null;
  if (isTaken) throw alreadyExists();
  const reason = passwordProblem(password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'REGISTER_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  try {
    return await createUser(deps, { email, passwordHash, isSuperuser: isFirst, isVerified: false }, by);
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw alreadyExists();
    throw error;
  }
}

/** Whether the next account is the first one of a server that nobody could sign in to otherwise. */
export async function mayRegisterFirst({ settings, users }: AuthenticateDependencies): Promise<boolean> {
  return settings.registersFirstSuperuser && !(await users.exist());
}

async function requireSuperuser(deps: AuthenticateDependencies, credentials: readonly Credential[]): Promise<UserId> {
  const principal = await authenticate(deps, { credentials, strict: true });
  if (principal?.isSuperuser && !isLimited(principal)) return principal.id;
  throw engramError('PermissionDeniedError', 'Sign-up is closed on this server: ask an administrator for an account.');
}

function alreadyExists(): HttpError {
  return new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
