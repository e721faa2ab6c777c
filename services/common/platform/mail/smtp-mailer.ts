import type { MailServer } from '../../domain/mail-server.ts';
import { engramError } from '../../kernel/errors.ts';
import { type Mailer, MailRefusedError } from '../../ports/mailer.ts';

/** A mail as a whole may take so many times one step: a server that answers byte by byte is given up. */
const STEPS = 6;

/** Loaded with the first mail: most processes never send one. */
const loadNodemailer = () => import('nodemailer');

/** One connection per mail: they are rare. Every outcome is decided after six times `timeoutMs` at most. */
export function createSmtpMailer(settings: MailServer): Mailer {
  const { host, port, login, tls, certificateAuthority, from, timeoutMs } = settings;
  return {
    reachesPeople: true,
    async send({ to, subject, text }, signal) {
      const { createTransport } = await loadNodemailer();
      const transport = createTransport({
        host,
        port,
        secure: tls === 'tls',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
        ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
        ...(certificateAuthority === null ? {} : { tls: { ca: certificateAuthority } }),
        dnsTimeout: timeoutMs,
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        // What is in a mail is text of ours; nothing of it may make the library read files or addresses.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(STEPS * timeoutMs)]);
      try {
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text, signal: deadline });
      } catch (error) {
        throw smtpError(error, `${host}:${port}`);
      } finally {
        transport.close();
      }
    },
  };
}

interface NodemailerFault {
  readonly code?: string;
  /** Code of the server's answer; 5xx are final, 4xx pass (RFC 5321 §4.2.1). */
  readonly responseCode?: number;
  readonly command?: string;
}

/** Describes the error without the server's own words: they repeat addresses and sometimes lines of the mail. */
function smtpError(error: unknown, server: string): Error {
  const { code = 'unknown', responseCode, command = 'none' } = (error ?? {}) as NodemailerFault;
  const what = `mail server ${server}: ${code}, answer ${responseCode ?? 'none'}, command ${command}`;
  if (responseCode !== undefined && responseCode >= 500) return new MailRefusedError(what);
  return engramError('ServiceUnavailableError', what, { retryable: true });
}
