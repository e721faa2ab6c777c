import { checkEmailAddress } from '../../common/domain/email-address.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** The address, spelled as accounts have it, when the provider says that it belongs to the person; else null. */
export function verifiedAddress({ email, email_verified }: Claims): string | null {
  // Some providers send booleans as texts.
  const isVerified = email_verified === true || email_verified === 'true';
  return isVerified && typeof email === 'string' ? (checkEmailAddress(email).address ?? null) : null;
}

/** Whether the address is within one of the domains; subdomains are others. */
export function isWithinDomains(address: string, domains: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domains.length === 0 || domains.includes(domain);
}

/** Texts of a claim: one, or a list of them. `realm_access.roles` is looked for by that name first, then as a path. */
export function claimValues(claims: Claims, claim: string): ReadonlySet<string> {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : valueAt(claims, claim.split('.'));
  return new Set([value].flat().filter((each) => typeof each === 'string'));
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}
