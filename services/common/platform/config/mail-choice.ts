import { readFileSync } from 'node:fs';
import { isLoopback } from './posture.ts';
import type { SettingValues } from './settings.ts';

/** How mails leave. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'tls' | 'none';
  readonly login: { readonly user: string; readonly password: string } | null;
  /** PEM. */
  readonly certificateAuthority: string | null;
  readonly from: string;
  readonly timeoutMs: number;
}

const PORTS = { starttls: 587, tls: 465, none: 25 } as const;

/** The mail server that is configured, null for none; what is wrong with it is added to `problems`. */
export function chooseMailServer(values: SettingValues, problems: string[]): MailServer | null {
  const { smtpHost: host, smtpTls: tls, smtpUser: user, smtpPassword: password, mailFrom: from } = values;
  if (host === undefined) {
    const needless = Object.entries({ ENGRAM_SMTP_USER: user, ENGRAM_SMTP_PASSWORD: password, ENGRAM_MAIL_FROM: from });
    for (const [name, value] of needless) {
      if (value !== undefined)
        problems.push(`${name}: has no effect without ENGRAM_SMTP_HOST. Set that, or unset this.`);
    }
    return null;
  }
  if (from === undefined)
    problems.push('ENGRAM_MAIL_FROM: must be set, because ENGRAM_SMTP_HOST is: mails need a sender.');
  if ((user === undefined) !== (password === undefined)) {
    problems.push('ENGRAM_SMTP_USER, ENGRAM_SMTP_PASSWORD: set both or none.');
  }
  if (password !== undefined && tls === 'none' && !isLoopback(host)) {
    problems.push('ENGRAM_SMTP_TLS: none would send the password of ENGRAM_SMTP_USER unencrypted.');
  }
  return {
    ...{ host, port: values.smtpPort ?? PORTS[tls], tls, from: from?.trim() ?? '', timeoutMs: values.smtpTimeoutMs },
    login: user === undefined || password === undefined ? null : { user, password },
    certificateAuthority: values.smtpCaFile === undefined ? null : readCertificate(values.smtpCaFile, problems),
  };
}

function readCertificate(path: string, problems: string[]): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    problems.push(`ENGRAM_SMTP_CA_FILE: ${path} cannot be read (${reason}).`);
    return null;
  }
}
