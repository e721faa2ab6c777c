import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { passwordProblem } from '../accounts/account.ts';
import type { ResetClaims } from '../credentials/one-use-tokens.ts';
import { type AccountMail, type MailPurpose, presentAccountMail } from '../mail/account-mail.ts';
import type { MailTask } from '../mail/outbox.ts';
import type { AuthDependencies } from '../model.ts';

export interface MailDependencies extends AuthDependencies {
  readonly mail: AccountMail;
}

/**
 * Requests a mail with a token for the account of an address. Returns before the account is looked up, so the answer and its
 * time are the same whether there is an account, a mail or neither. Agents and inactive accounts get no mail, nor do accounts
 * without a password get one to reset it: they sign in with an identity provider, and a mail must not open a second way in.
 */
export function requestAccountMail(deps: MailDependencies, purpose: MailPurpose, address: string): void {
  deps.mail.outbox.add(mailTask(deps, purpose, address));
}

function mailTask(deps: MailDependencies, purpose: MailPurpose, address: string): MailTask {
  const { logger } = deps;
  const { mailer, links } = deps.mail;
  // Counted once, however often the mail server is tried.
  let admitted: User | null = null;
  return async (signal) => {
    admitted ??= await admit(deps, purpose, address);
    if (admitted === null || mailer === null) return;
    const { id, email } = admitted;
    const token = await issue(deps, purpose, admitted);
    await mailer.send(presentAccountMail({ purpose, to: email, token, link: links[purpose] }), signal);
    logger.info('auth.mail.sent', { purpose, userId: id });
  };
}

/** Returns the account that gets the mail; null when there is none, or it got too many. */
async function admit(deps: MailDependencies, purpose: MailPurpose, address: string): Promise<User | null> {
  const { users, clock, logger } = deps;
  const { mailer, sent, perAccountAndHour } = deps.mail;
  const user = await users.findByEmail(address);
  if (user === null || !isAddressee(user, purpose)) return null;
  if (mailer === null) {
    logger.warn('auth.mail.not_configured', { purpose, userId: user.id });
    return null;
  }
  if (await sent.take(user.id, clock.now(), perAccountAndHour)) return user;
  logger.warn('auth.mail.too_many', { purpose, userId: user.id });
  return null;
}

function isAddressee({ isActive, parentId, passwordHash, isVerified }: User, purpose: MailPurpose): boolean {
  if (!isActive || parentId !== null) return false;
  return purpose === 'reset' ? passwordHash !== NO_PASSWORD : !isVerified;
}

function issue({ mail: { tokens } }: MailDependencies, purpose: MailPurpose, user: User): Promise<string> {
  return purpose === 'reset' ? tokens.issueReset(user) : tokens.issueVerification(user);
}

interface PasswordReset {
  readonly token: string;
  readonly password: string;
}

/**
 * Sets a new password with a token from a mail, once, and ends all login tokens of the account. Errors: 400
 * `RESET_PASSWORD_BAD_TOKEN`, for an inactive account too, and `RESET_PASSWORD_INVALID_PASSWORD`; `TooManyRequestsError`.
 */
export async function resetPassword(deps: MailDependencies, { token, password }: PasswordReset): Promise<void> {
  const claims = await deps.mail.tokens.readReset(token);
  // Checked first: without a valid token neither the password rule nor the costly hash is reached.
  if (claims === null) throw badResetToken();
  await resettable(deps, claims);
  const reason = passwordProblem(password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'RESET_PASSWORD_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  await retryOnConflict(async () => {
    // Checked in each attempt: of two concurrent uses the second finds the new password.
    const user = await resettable(deps, claims);
    const changed = { ...user, passwordHash, updatedAt: deps.clock.now().toISOString() };
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [deps.users.replaceWrite(changed)],
      [
        {
          tenant: PERSONAL_TENANT,
          action: 'user.password_changed',
          actor: user.id,
          subject: user.id,
          details: { by: 'reset token' },
        },
      ],
    );
    deps.notify.userChanged(user.id);
  });
}

async function resettable({ users, mail }: MailDependencies, claims: ResetClaims): Promise<User> {
  const user = await users.get(claims.userId);
  if (user === null || !user.isActive || !mail.tokens.isUnused(claims, user)) throw badResetToken();
  return user;
}

function badResetToken(): HttpError {
  return new HttpError(400, { detail: 'RESET_PASSWORD_BAD_TOKEN' });
}

/**
 * Marks the address of an account as verified with a token from a mail to it. Errors: 400 `VERIFY_USER_BAD_TOKEN`, also when
 * the address has changed or the account is inactive, and `VERIFY_USER_ALREADY_VERIFIED`.
 */
export async function verifyAddress(deps: MailDependencies, token: string): Promise<User> {
  const claims = await deps.mail.tokens.readVerification(token);
  if (claims === null) throw badVerificationToken();
  return retryOnConflict(async () => {
    const user = await deps.users.get(claims.userId);
    if (user === null || !user.isActive || user.email !== claims.email) throw badVerificationToken();
    if (user.isVerified) throw new HttpError(400, { detail: 'VERIFY_USER_ALREADY_VERIFIED' });
    const changed = { ...user, isVerified: true, updatedAt: deps.clock.now().toISOString() };
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [deps.users.replaceWrite(changed)],
      [{ tenant: PERSONAL_TENANT, action: 'user.verified', actor: user.id, subject: user.id }],
    );
    deps.notify.userChanged(user.id);
    return changed;
  });
}

function badVerificationToken(): HttpError {
  return new HttpError(400, { detail: 'VERIFY_USER_BAD_TOKEN' });
}
