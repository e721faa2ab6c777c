import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createUser, isReservedAddress } from '../accounts/account.ts';
import { presentAccountMail } from '../mail/account-mail.ts';
import type { MailDependencies } from './account-mails.ts';

interface InvitationRequest {
  readonly email: string;
  /** Address of the server, for a link to its own page. */
  readonly server: string;
}

export interface Invitation {
  readonly user: User;
  /** Shown once; null: it was mailed. */
  readonly link: string | null;
  readonly expiresAt: Date;
}

/**
 * Creates an account without a password and a link that sets one, once, within seven days; also for an account that has
 * none yet. Errors: 400 `REGISTER_USER_ALREADY_EXISTS` for any other account, `TooManyRequestsError` for too many mails.
 */
export async function inviteUser(
  deps: MailDependencies,
  principal: Principal,
  { email, server }: InvitationRequest,
): Promise<Invitation> {
  const { mailer: configured, links, tokens, sent, perAccountAndHour, outbox } = deps.mail;
  const mailer = configured?.reachesPeople ? configured : null;
  const user = await invitee(deps, principal, email);
  if (mailer !== null && !(await sent.take(user.id, deps.clock.now(), perAccountAndHour)))
    throw engramError('TooManyRequestsError', 'This account got too many mails within the hour.', { retryable: true });
  const { token, expiresAt } = await tokens.issueInvitation(user);
  // The page of a reset takes the token of an invitation, too.
  const link = links.reset ?? `${server}/#reset={token}`;
  await deps.audit.record({
    tenant: PERSONAL_TENANT,
    action: 'user.invited',
    actor: principal.id,
    subject: user.id,
    details: { email: user.email, mailed: mailer !== null },
  });
  if (mailer === null) return { user, link: link.replaceAll('{token}', token), expiresAt };
  const mail = presentAccountMail({ purpose: 'invitation', to: user.email, token, link });
  outbox.add((signal) => mailer.send(mail, signal));
  return { user, link: null, expiresAt };
}

async function invitee(deps: MailDependencies, { id: by }: Principal, email: string): Promise<User> {
  const known = await deps.users.findByEmail(email);
  if (known === null && !isReservedAddress(deps.settings, email)) {
    try {
      return await createUser(deps, { email, passwordHash: NO_PASSWORD, isSuperuser: false, isVerified: false }, by);
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
    }
  }
  const canBeInvited = known?.isActive && known.parentId === null && known.passwordHash === NO_PASSWORD;
  if (canBeInvited && !isReservedAddress(deps.settings, email)) return known;
  throw new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
