import type { Logger } from '../../common/ports/logger.ts';
import type { Mail, Mailer } from '../../common/ports/mailer.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { createOneUseTokens, type OneUseTokens } from '../credentials/one-use-tokens.ts';
import { type AccountMails, createAccountMails } from '../repositories/account-mails.ts';
import { createOutbox, type Outbox } from './outbox.ts';

export interface AccountMailOptions {
  /** Null: no mails are sent. */
  readonly mailer: Mailer | null;
  /** Pages that accept the token of a mail, with `{token}` in the address; null: the mail contains the token itself. */
  readonly links: Readonly<Record<MailPurpose, string | null>>;
  /** ENGRAM_MAILS_PER_ACCOUNT_AND_HOUR */
  readonly perAccountAndHour: number;
  /** FASTAPI_USERS_RESET_PASSWORD_TOKEN_SECRET and …_VERIFICATION_…; null: derived from the secret of login tokens. */
  readonly secrets: { readonly reset: string | null; readonly verification: string | null };
  /** Pauses before further attempts; default: suited to mail servers. */
  readonly retryDelaysMs?: readonly number[];
}

/** Dependencies of the use cases that send mails. */
export interface AccountMail extends Pick<AccountMailOptions, 'mailer' | 'links' | 'perAccountAndHour'> {
  readonly outbox: Outbox;
  readonly tokens: OneUseTokens;
  readonly sent: AccountMails;
}

interface AccountMailParts {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly jwtSecret: Uint8Array | string;
}

export function createAccountMail(options: AccountMailOptions, parts: AccountMailParts): AccountMail {
  const { mailer, links, perAccountAndHour, secrets, retryDelaysMs } = options;
  const { store, clock, logger, jwtSecret } = parts;
  return {
    mailer,
    links,
    perAccountAndHour,
    outbox: createOutbox({ logger, ...(retryDelaysMs === undefined ? {} : { retryDelaysMs }) }),
    tokens: createOneUseTokens({
      jwtSecret,
      resetSecret: secrets.reset,
      verificationSecret: secrets.verification,
      clock,
    }),
    sent: createAccountMails(store),
  };
}

export type MailPurpose = 'reset' | 'verify';

interface MailContent {
  readonly purpose: MailPurpose | 'invitation';
  readonly to: string;
  readonly token: string;
  /** Page that accepts the token, with `{token}` in the address; null: the mail contains the token itself. */
  readonly link: string | null;
}

const WORDS = {
  reset: {
    subject: 'Reset your password',
    why: 'Somebody asked for a new password for your account.',
    act: 'To set one, open this address within an hour:',
    code: 'To set one within an hour, send this token with the new password to POST /api/v1/auth/reset-password:',
    otherwise: 'If it was not you, nothing needs to be done: the password stays as it is.',
  },
  invitation: {
    subject: 'You are invited to Engram',
    why: 'You are invited to an Engram server: a memory for documents and conversations.',
    act: 'To choose your password, open this address within seven days:',
    code: 'To choose your password within seven days, send this token with it to POST /api/v1/auth/reset-password:',
    otherwise: 'If you do not know what this is about, nothing needs to be done.',
  },
  verify: {
    subject: 'Confirm your address',
    why: 'Somebody asked to confirm that this address belongs to your account.',
    act: 'To confirm it, open this address within an hour:',
    code: 'To confirm it within an hour, send this token to POST /api/v1/auth/verify:',
    otherwise: 'If it was not you, nothing needs to be done.',
  },
} as const;

/** The text contains nothing of the request, such as its host, which an attacker could choose. */
export function presentAccountMail({ purpose, to, token, link }: MailContent): Mail {
  const { subject, why, act, code, otherwise } = WORDS[purpose];
  const [invitation, way] = link === null ? [code, token] : [act, link.replaceAll('{token}', token)];
  return { to, subject, text: `${why}\n\n${invitation}\n\n${way}\n\n${otherwise}\n` };
}
