import { engramError } from '../../kernel/errors.ts';
import { MailRefusedError } from '../../ports/mailer.ts';

interface NodemailerFault {
  readonly code?: string;
  /** Code of the server's answer; 5xx are final, 4xx pass (RFC 5321 §4.2.1). */
  readonly responseCode?: number;
  readonly command?: string;
}

/** Describes the error without the server's own words: they repeat addresses and sometimes lines of the mail. */
export function smtpError(error: unknown, server: string): Error {
  const { code = 'unknown', responseCode, command = 'none' } = (error ?? {}) as NodemailerFault;
  const what = `mail server ${server}: ${code}, answer ${responseCode ?? 'none'}, command ${command}`;
  if (responseCode !== undefined && responseCode >= 500) return new MailRefusedError(what);
  return engramError('ServiceUnavailableError', what, { retryable: true });
}
