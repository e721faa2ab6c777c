import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { MailTask } from '../mail/outbox.ts';
import { type MailPurpose, presentAccountMail } from '../presenters/account-mail.ts';

/**
 * Asks for a mail with a token to the account of an address. Returns before anything is looked up, so the answer is the same
 * at the same time whether there is an account, a mail or neither. There is none for agents, inactive accounts and, for a
 * reset, accounts without a password: who signs in with an identity provider has the password there, and a mail must not
 * open a second way in that the provider does not know of.
 */
export function requestAccountMail(deps: AuthDependencies, purpose: MailPurpose, address: string): void {
  deps.mail.outbox.add(mailTask(deps, purpose, address));
}

function mailTask(deps: AuthDependencies, purpose: MailPurpose, address: string): MailTask {
  const { logger } = deps;
  const { mailer, links } = deps.mail;
  // The allowance is taken once, however often the server has to be asked.
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

/** The account that gets the mail now; null when there is nobody to send it to, or too much was sent. */
async function admit(deps: AuthDependencies, purpose: MailPurpose, address: string): Promise<User | null> {
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

function issue({ mail: { tokens } }: AuthDependencies, purpose: MailPurpose, user: User): Promise<string> {
  return purpose === 'reset' ? tokens.issueReset(user) : tokens.issueVerification(user);
}
