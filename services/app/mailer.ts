import type { Config } from '../common/platform/config/configuration.ts';
import { createSmtpMailer } from '../common/platform/mail/smtp-mailer.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Mailer } from '../common/ports/mailer.ts';

/**
 * Opens the mailer; null: no mail is sent. Only a server with one local user may write tokens of mails to its log:
 * elsewhere readers of logs could take over accounts.
 */
export function openMailer(
  { mailServer, posture }: Pick<Config, 'mailServer' | 'posture'>,
  logger: Logger,
): Mailer | null {
  if (mailServer !== null) return createSmtpMailer(mailServer);
  return posture.openByDefault ? createLogMailer(logger) : null;
}

/**
 * Writes mails to the log, tokens included: only for a server on loopback whose one user reads that log. Anywhere else a
 * token in a log gives its readers an account.
 */
function createLogMailer(logger: Logger): Mailer {
  return {
    reachesPeople: false,
    async send({ to, subject, text }) {
      logger.info('mail.written_to_log', { to, subject, text });
    },
  };
}
