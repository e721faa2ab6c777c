import type { Logger } from '../../common/ports/logger.ts';
import type { Mailer } from '../../common/ports/mailer.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { createOneUseTokens, type OneUseTokens } from '../credentials/one-use-tokens.ts';
import type { MailPurpose } from '../presenters/account-mail.ts';
import { type AccountMails, createAccountMails } from '../repositories/account-mails.ts';
import { createOutbox, type Outbox } from './outbox.ts';

/** How accounts get mails. */
export interface AccountMailOptions {
  /** Null: there are no mails. */
  readonly mailer: Mailer | null;
  /** Pages that take the token of a mail, with `{token}` in them; null: the mail holds the token. */
  readonly links: Readonly<Record<MailPurpose, string | null>>;
  /** ENGRAM_MAILS_PER_ACCOUNT_AND_HOUR */
  readonly perAccountAndHour: number;
  /** FASTAPI_USERS_RESET_PASSWORD_TOKEN_SECRET and …_VERIFICATION_…; null: derived from the secret of login tokens. */
  readonly secrets: { readonly reset: string | null; readonly verification: string | null };
  /** Milliseconds before each further attempt; default: made for mail servers. */
  readonly retryDelaysMs?: readonly number[];
}

/** What the use cases of mails work with. */
export interface AccountMail extends Pick<AccountMailOptions, 'mailer' | 'links' | 'perAccountAndHour'> {
  readonly outbox: Outbox;
  readonly tokens: OneUseTokens;
  readonly sent: AccountMails;
}

export interface AccountMailParts {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly jwtSecret: Uint8Array | string;
}

export function createAccountMail(options: AccountMailOptions, parts: AccountMailParts): AccountMail {
  const { mailer, links, perAccountAndHour, secrets, retryDelaysMs } = options;
  const { store, clock, logger, jwtSecret } = parts;
  return {
    ...{ mailer, links, perAccountAndHour },
    outbox: createOutbox({ logger, ...(retryDelaysMs === undefined ? {} : { retryDelaysMs }) }),
    tokens: createOneUseTokens({
      ...{ jwtSecret, resetSecret: secrets.reset, verificationSecret: secrets.verification, clock },
    }),
    sent: createAccountMails(store),
  };
}
