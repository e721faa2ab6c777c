import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { optional, secret, setting, text } = rowsOf('Mail');

const link = () =>
  type.text().refine((text) => {
    const url = text.includes('{token}') ? text.replaceAll('{token}', 'token') : '';
    return /^https?:/i.test(url) && URL.canParse(url);
  }, 'must be an http or https URL with {token} in it');

/** Mails to accounts: password resets and confirmed addresses. Without a server there are none. */
export const mail = {
  smtpHost: text(
    'ENGRAM_SMTP_HOST',
    'Mail server for password resets and confirmed addresses. Unset: no mails; a server in the open mode writes them to its log.',
  ),
  smtpPort: optional('ENGRAM_SMTP_PORT', {
    type: type.integer({ min: 1, max: 65_535 }),
    shownDefault: '587, 465 with `tls`, 25 with `none`',
    meaning: 'Its port.',
  }),
  smtpTls: setting('ENGRAM_SMTP_TLS', {
    type: type.oneOf(['starttls', 'tls', 'none']),
    default: 'starttls',
    meaning:
      '`starttls` = the connection is upgraded, or nothing is sent; `tls` = encrypted from the start; `none` = never encrypted, and then without a password unless the server is on loopback.',
  }),
  smtpCaFile: text('ENGRAM_SMTP_CA_FILE', 'Certificate authority of its certificate, as PEM.'),
  smtpUser: text('ENGRAM_SMTP_USER', 'Its user.'),
  smtpPassword: secret('ENGRAM_SMTP_PASSWORD', 'The password of that user.'),
  mailFrom: optional('ENGRAM_MAIL_FROM', {
    type: type
      .text()
      .refine(
        (text) => /^(?:[^<>@\s]+@[^<>@\s]+|[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>)$/.test(text.trim()),
        'must be an address like engram@example.com or Engram <engram@example.com>',
      ),
    meaning: 'Sender of the mails.',
  }),
  smtpTimeoutMs: setting('ENGRAM_SMTP_TIMEOUT', {
    type: type.secondsAsMs({ min: 0.1, max: 300 }),
    default: '10',
    meaning: 'Seconds for each step of sending a mail; no request waits for it.',
  }),
  resetPasswordLink: optional('ENGRAM_RESET_PASSWORD_LINK', {
    type: link(),
    meaning:
      'Page for a new password; that of the console is `https://engram.example.com/#reset={token}`. Unset: the token stands in the mail.',
  }),
  verifyAddressLink: optional('ENGRAM_VERIFY_ADDRESS_LINK', {
    type: link(),
    meaning: 'Page that confirms an address, with `{token}` in it. Unset: the token stands in the mail.',
  }),
  mailsPerHour: setting('ENGRAM_MAILS_PER_ACCOUNT_AND_HOUR', {
    type: type.integer({ min: 1, max: 1000 }),
    default: '5',
    meaning: 'Mails that an account gets within an hour; further ones are not sent, without an error.',
  }),
};
