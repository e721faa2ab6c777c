import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { ignoreConflict, ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../model.ts';
import { createUser } from './account.ts';

/**
 * Returns the account that requests without credentials use, and creates it on first use: a verified superuser, without a
 * password unless one is configured. Errors: `CogneeSystemError` (500) when it cannot be created.
 */
export async function ensureDefaultUser(deps: AuthDependencies): Promise<User> {
  const existing = await deps.users.findByEmail(deps.settings.defaultUserEmail);
  if (existing !== null) return existing;
  try {
    return await createDefaultUser(deps);
  } catch (error) {
    if (isEngramError(error)) throw error;
    throw engramError('CogneeSystemError', 'Failed to create default user: the store refused it.', { cause: error });
  }
}

async function createDefaultUser(deps: AuthDependencies): Promise<User> {
  const { users, settings, defaultUserPassword } = deps;
  const passwordHash = defaultUserPassword === null ? NO_PASSWORD : await deps.passwords.hash(defaultUserPassword);
  // A concurrent request or another replica may create it.
  await ignoreDuplicate(
    createUser(deps, { email: settings.defaultUserEmail, passwordHash, isSuperuser: true, isVerified: true }),
  );
  const created = await users.findByEmail(settings.defaultUserEmail);
  if (created === null) throw new Error('the default account was removed while it was created');
  return created;
}

/** When DEFAULT_USER_PASSWORD is set: creates the account at start, or sets the password if the account has none. */
export async function prepareDefaultUser(deps: AuthDependencies): Promise<void> {
  const { defaultUserPassword: password } = deps;
  if (password === null) return;
  const user = await ensureDefaultUser(deps);
  if (user.passwordHash === NO_PASSWORD) await setFirstPassword(deps, user, password);
}

/** Warns in the log when the configured default account is not a superuser or has another password. */
export async function reviewDefaultUser(deps: AuthDependencies): Promise<void> {
  const { defaultUserPassword: password, logger } = deps;
  if (password === null) return;
  const user = await deps.users.findByEmail(deps.settings.defaultUserEmail);
  if (user === null) return;
  if (!user.isSuperuser) logger.warn('auth.default_user.not_superuser', { userId: user.id });
  const isSame = await deps.passwords.verify(password, user.passwordHash);
  if (!isSame) logger.warn('auth.default_user.password_differs', { userId: user.id });
}

async function setFirstPassword(deps: AuthDependencies, user: User, password: string): Promise<void> {
  const passwordHash = await deps.passwords.hash(password);
  const changed = { ...user, passwordHash, updatedAt: deps.clock.now().toISOString() };
  const entry = { tenant: PERSONAL_TENANT, action: 'user.password_changed', actor: null, subject: user.id };
  const commit = deps.audit.commit({ tenant: PERSONAL_TENANT }, [deps.users.replaceWrite(changed)], [entry]);
  // Another replica may set the same password at start.
  if (await ignoreConflict(commit)) deps.notify.userChanged(user.id);
}
