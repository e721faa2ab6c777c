/** Plain text. */
export interface Mail {
  /** One address, checked. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** The way out for mails to people. Adapters: `smtp`, and `log-mailer` for a server that has one user. */
export interface Mailer {
  /** False: mails reach nobody but the readers of the log. */
  readonly reachesPeople: boolean;
  /**
   * Resolves when a mail server has taken the mail, which says nothing of its arrival. Errors: `MailRefusedError` when the
   * server will not take it at any time; any other error may pass, and the mail may have been taken nevertheless.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
}

export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}
