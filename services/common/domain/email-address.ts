import { domainToASCII, domainToUnicode } from 'node:url';

type EmailCheck =
  | { readonly address: string; readonly reason?: never }
  | { readonly address?: never; readonly reason: string };

/** RFC 6761, 7686 and 6762 names that no mail can reach; `example` domains are allowed, tests and documents use them. */
const RESERVED_TOP_LEVEL = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test']);
/** RFC 5321 §4.5.3.1 */
const LOCAL_PART_LIMIT = 64;
const ADDRESS_LIMIT = 254;
/** Before anything is looked at; leaves room for a display name. */
const TEXT_LIMIT = 1000;
/** RFC 5322 atext, and RFC 6531 letters beyond ASCII. */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]+$/u;
const DISPLAY_NAME = /^[^<>]*<([^<>]+)>$/;

/**
 * Checks an address and spells it as it is stored: NFC, local part as given, domain lower-case and in Unicode. Blanks
 * around it and a display name (`Ada <ada@example.com>`) are dropped. Rules as measured in auth-integrations.md §2.4.
 */
export function checkEmailAddress(text: string): EmailCheck {
  if (text.length > TEXT_LIMIT) return { reason: 'The email address is too long.' };
  const trimmed = text.trim();
  const candidate = (DISPLAY_NAME.exec(trimmed)?.[1] ?? trimmed).trim().normalize('NFC');
  const at = candidate.lastIndexOf('@');
  if (at < 0) return { reason: 'An email address must have an @-sign.' };
  const local = candidate.slice(0, at);
  const localProblem = problemOfLocalPart(local);
  if (localProblem !== null) return { reason: localProblem };
  const domain = checkDomain(candidate.slice(at + 1));
  if (domain.reason !== undefined) return domain;
  const address = `${local}@${domain.address}`;
  if (Buffer.byteLength(address) > ADDRESS_LIMIT) return { reason: 'The email address is too long.' };
  return { address };
}

/**
 * The form in which addresses are compared: one account per address whatever its case, and no look-alike made of
 * compatibility characters (full-width letters, ligatures) beside an account that exists.
 */
export function emailKey(address: string): string {
  return address.trim().normalize('NFKC').toLowerCase();
}

/** Domain of the addresses of agents (`agent-address.ts`); only the service itself creates them. */
export const AGENT_DOMAIN = 'cognee.agent';

export function isAgentAddress(address: string): boolean {
  return emailKey(address).endsWith(`@${AGENT_DOMAIN}`);
}

function problemOfLocalPart(local: string): string | null {
  if (local === '') return 'There must be something before the @-sign.';
  if (local.startsWith('"')) return 'Quoting the part before the @-sign is not allowed here.';
  if (!LOCAL_PART.test(local)) return 'The email address contains invalid characters before the @-sign.';
  if (local.startsWith('.')) return 'An email address cannot start with a period.';
  if (local.endsWith('.')) return 'An email address cannot have a period immediately before the @-sign.';
  if (local.includes('..')) return 'An email address cannot have two periods in a row.';
  if (Buffer.byteLength(local) > LOCAL_PART_LIMIT) return 'The email address is too long before the @-sign.';
  return null;
}

function checkDomain(domain: string): EmailCheck {
  if (domain === '') return { reason: 'There must be something after the @-sign.' };
  if (domain.startsWith('[')) return { reason: 'A bracketed IP address after the @-sign is not allowed here.' };
  if (domain.startsWith('.')) return { reason: 'An email address cannot have a period immediately after the @-sign.' };
  if (domain.endsWith('.')) return { reason: 'An email address cannot end with a period.' };
  if (domain.includes('..')) return { reason: 'An email address cannot have two periods in a row.' };
  // Before the conversion, which reads a numeric last label as an IPv4 address.
  if (/\.\d+$/.test(domain)) {
    return { reason: 'The part after the @-sign is not valid. It is not within a valid top-level domain.' };
  }
  // domainToASCII reads URL hosts: it would turn `%61` into `a` and `0x7f.1` into 127.0.0.1.
  const ascii = /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain) ? domainToASCII(domain) : '';
  const labels = ascii.split('.');
  if (ascii.length > 253 || !labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))) {
    return { reason: 'The part after the @-sign contains invalid characters.' };
  }
  if (labels.length < 2) return { reason: 'The part after the @-sign is not valid. It should have a period.' };
  const topLevel = labels.at(-1) ?? '';
  if (RESERVED_TOP_LEVEL.has(topLevel)) {
    return { reason: 'The part after the @-sign is a special-use or reserved name that cannot be used with email.' };
  }
  return { address: domainToUnicode(ascii) };
}
