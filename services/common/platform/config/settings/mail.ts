import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

const section = 'Mail';

const link = () =>
  type.text().refine((text) => {
    const url = text.includes('{token}') ? text.replaceAll('{token}', 'token') : '';
    return /^https?:/i.test(url) && URL.canParse(url);
  }, 'must be an http or https URL with {token} in it');

/** Mails to accounts: password resets and confirmed addresses. Without a server there are none. */
export const mail = {
  smtpHost: optional({
    names: ['ENGRAM_SMTP_HOST'],
    section,
    type: type.text(),
    meaning:
      'Mail server for password resets and confirmed addresses. Unset: no mails; a server in the open mode writes them to its log.',
  }),
  smtpPort: optional({
    names: ['ENGRAM_SMTP_PORT'],
    section,
    type: type.integer({ min: 1, max: 65_535 }),
    shownDefault: '587, 465 with `tls`, 25 with `none`',
    meaning: 'Its port.',
  }),
  smtpTls: setting({
    names: ['ENGRAM_SMTP_TLS'],
    section,
    type: type.oneOf(['starttls', 'tls', 'none']),
    default: 'starttls',
    meaning:
      '`starttls` = the connection is upgraded, or nothing is sent; `tls` = encrypted from the start; `none` = never encrypted, and then without a password unless the server is on loopback.',
  }),
  smtpCaFile: optional({
    names: ['ENGRAM_SMTP_CA_FILE'],
    section,
    type: type.text(),
    meaning: 'Certificate authority of its certificate, as PEM.',
  }),
  smtpUser: optional({ names: ['ENGRAM_SMTP_USER'], section, type: type.text(), meaning: 'Its user.' }),
  smtpPassword: optional({
    names: ['ENGRAM_SMTP_PASSWORD'],
    section,
    type: type.text(),
    secret: true,
    meaning: 'The password of that user.',
  }),
  mailFrom: optional({
    names: ['ENGRAM_MAIL_FROM'],
    section,
    type: type
      .text()
      .refine(
        (text) => /^(?:[^<>@\s]+@[^<>@\s]+|[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>)$/.test(text.trim()),
        'must be an address like engram@example.com or Engram <engram@example.com>',
      ),
    meaning: 'Sender of the mails.',
  }),
  smtpTimeoutMs: setting({
    names: ['ENGRAM_SMTP_TIMEOUT'],
    section,
    type: type.secondsAsMs({ min: 0.1, max: 300 }),
    default: '10',
    meaning: 'Seconds for each step of sending a mail; no request waits for it.',
  }),
  resetPasswordLink: optional({
    names: ['ENGRAM_RESET_PASSWORD_LINK'],
    section,
    type: link(),
    meaning:
      'Page for a new password; that of the console is `https://engram.example.com/#reset={token}`. Unset: the token stands in the mail.',
  }),
  verifyAddressLink: optional({
    names: ['ENGRAM_VERIFY_ADDRESS_LINK'],
    section,
    type: link(),
    meaning: 'Page that confirms an address, with `{token}` in it. Unset: the token stands in the mail.',
  }),
  mailsPerHour: setting({
    names: ['ENGRAM_MAILS_PER_ACCOUNT_AND_HOUR'],
    section,
    type: type.integer({ min: 1, max: 1000 }),
    default: '5',
    meaning: 'Mails that an account gets within an hour; further ones are not sent, without an error.',
  }),
};
