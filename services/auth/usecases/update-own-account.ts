import type { UserId } from '../../common/domain/brand.ts';
import { emailKey } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/domain/errors.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/ports/document-store.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { isDefaultAddress } from './default-user.ts';
import { passwordProblem } from './password-rule.ts';
import { isReservedAddress } from './register-user.ts';

export interface AccountChange {
  /** Checked and spelled as it is stored. */
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}

/** Changes the caller's own address or password; a new password ends all login tokens, a new address is unverified. */
export async function updateOwnAccount(deps: AuthDependencies, id: UserId, change: AccountChange): Promise<User> {
  const reason = change.password === undefined ? null : passwordProblem(change.password);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'UPDATE_USER_INVALID_PASSWORD', reason } });
  const passwordHash = change.password === undefined ? undefined : await deps.passwords.hash(change.password);
  for (;;) {
    const user = await currentUser(deps, id);
    const changed = {
      ...user,
      ...changedEmail(deps, user, change.email),
      passwordHash: passwordHash ?? user.passwordHash,
    };
    if (changed.email === user.email && changed.passwordHash === user.passwordHash) return user;
    try {
      const write = deps.users.replaceWrite({ ...changed, updatedAt: deps.clock.now().toISOString() });
      const [result] = await deps.store.commit({ tenant: PERSONAL_TENANT }, [write]);
      deps.news.userChanged(id);
      return { ...changed, version: result?.stored?.version ?? user.version };
    } catch (error) {
      if (error instanceof DuplicateKeyError) throw emailTaken();
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
}

export async function currentUser({ users }: Pick<AuthDependencies, 'users'>, id: UserId): Promise<User> {
  const user = await users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'The account does not exist any more.');
  return user;
}

function changedEmail(deps: AuthDependencies, user: User, email: string | undefined): Partial<User> {
  if (email === undefined || email === user.email) return {};
  const isSameAddress = emailKey(email) === emailKey(user.email);
  if (!isSameAddress && isDefaultAddress(deps.settings, user.email)) {
    // It would leave its datasets behind: the next start or anonymous request makes a new default account.
    throw engramError('PermissionDeniedError', 'The address of the default account is set by DEFAULT_USER_EMAIL.');
  }
  if (!isSameAddress && isReservedAddress(deps.settings, email)) throw emailTaken();
  return { email, isVerified: isSameAddress && user.isVerified };
}

function emailTaken(): HttpError {
  return new HttpError(400, { detail: 'UPDATE_USER_EMAIL_ALREADY_EXISTS' });
}
