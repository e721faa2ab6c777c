/** Capabilities of a principal in a tenant, beyond datasets. The catalog is fixed (specification, Authentication, rule 4). */
export const CAPABILITIES = ['grant_capabilities', 'manage_users', 'revoke_capabilities'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** A role of this name passes every check, without having the capabilities (deprecated by the contract, still in it). */
export const ADMIN_ROLE = 'admin';

export function isCapability(text: string): text is Capability {
  return (CAPABILITIES as readonly string[]).includes(text);
}
