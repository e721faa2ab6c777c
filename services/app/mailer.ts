import type { Config } from '../common/platform/config/configuration.ts';
import { createLogMailer } from '../common/platform/mail/log-mailer.ts';
import { createSmtpMailer } from '../common/platform/mail/smtp-mailer.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Mailer } from '../common/ports/mailer.ts';

/**
 * How mails leave; null: they do not. Only a server that nobody but its one user reaches may write their tokens to its log:
 * elsewhere whoever reads logs could take over accounts.
 */
export function openMailer(
  { mailServer, posture }: Pick<Config, 'mailServer' | 'posture'>,
  logger: Logger,
): Mailer | null {
  if (mailServer !== null) return createSmtpMailer(mailServer);
  return posture.openByDefault ? createLogMailer(logger) : null;
}
