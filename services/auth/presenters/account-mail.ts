import type { Mail } from '../../common/ports/mailer.ts';

/** What a mail to an account is for. */
export type MailPurpose = 'reset' | 'verify';

interface AccountMail {
  readonly purpose: MailPurpose;
  readonly to: string;
  readonly token: string;
  /** Page that takes the token, with `{token}` in it; null: the mail holds the token itself. */
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
  verify: {
    subject: 'Confirm your address',
    why: 'Somebody asked to confirm that this address belongs to your account.',
    act: 'To confirm it, open this address within an hour:',
    code: 'To confirm it within an hour, send this token to POST /api/v1/auth/verify:',
    otherwise: 'If it was not you, nothing needs to be done.',
  },
} as const;

/** The host of the request is nowhere in it: whoever asks could choose that. */
export function presentAccountMail({ purpose, to, token, link }: AccountMail): Mail {
  const { subject, why, act, code, otherwise } = WORDS[purpose];
  const [invitation, way] = link === null ? [code, token] : [act, link.replaceAll('{token}', token)];
  return { to, subject, text: `${why}\n\n${invitation}\n\n${way}\n\n${otherwise}\n` };
}
