import { ADMIN_ROLE, CAPABILITIES, type Capability } from '../../common/domain/capabilities.ts';
import type { PrincipalId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { AuthDependencies } from '../model.ts';

/** What a user may do in a tenant beyond datasets. */
export interface TenantAuthority {
  readonly isMember: boolean;
  /** What the user has, in the order of the catalog. */
  readonly capabilities: readonly Capability[];
  /** The rule of checks: a role named `admin` passes all of them, without having the capabilities. */
  allows(capability: Capability): boolean;
}

const NO_AUTHORITY: TenantAuthority = { isMember: false, capabilities: [], allows: () => false };

/** Grants on the tenant, on the user's roles there and on the user; the owner has all. Of members only. */
export async function authorityIn(deps: AuthDependencies, user: UserId, tenant: Tenant): Promise<TenantAuthority> {
  const [isMember, roleIds] = await Promise.all([
    deps.memberships.has(tenant.id, user),
    deps.roleMembers.rolesOf(user, tenant.id),
  ]);
  if (!isMember) return NO_AUTHORITY;
  if (tenant.ownerId === user) return { isMember, capabilities: CAPABILITIES, allows: () => true };
  const holders: readonly PrincipalId[] = [tenant.id, user, ...roleIds];
  const [grants, roles] = await Promise.all([
    deps.capabilities.ofHolders(tenant.id, holders),
    deps.roles.getMany(roleIds),
  ]);
  const granted = new Set(grants.map(({ capability }) => capability));
  const isAdmin = roles.some(({ name }) => name === ADMIN_ROLE);
  return {
    isMember,
    capabilities: CAPABILITIES.filter((capability) => granted.has(capability)),
    allows: (capability) => isAdmin || granted.has(capability),
  };
}

/** The same for who asks: nothing in other tenants than that of its key, should it be a tenant's. */
export async function authorityOf(
  deps: AuthDependencies,
  principal: Pick<Principal, 'id' | 'key'>,
  tenant: Tenant,
): Promise<TenantAuthority> {
  return reachesTenant(principal, tenant.id) ? authorityIn(deps, principal.id, tenant) : NO_AUTHORITY;
}

/** What the principal may do in the tenant that it works in. */
export async function heldCapabilities(deps: AuthDependencies, principal: Principal): Promise<readonly Capability[]> {
  const tenant = principal.tenant === PERSONAL_TENANT ? null : await deps.tenants.get(principal.tenant);
  if (tenant === null) return [];
  const authority = await authorityOf(deps, principal, tenant);
  return authority.isMember ? CAPABILITIES.filter((capability) => authority.allows(capability)) : [];
}

/**
 * The tenant, when the principal may do this in it. Errors: `PermissionDeniedError` for a member who may not,
 * `TenantNotFoundError` for everybody else – to strangers a tenant reads as one that does not exist – and for the personal
 * space.
 */
export async function requireCapability(
  deps: AuthDependencies,
  principal: Pick<Principal, 'id' | 'key'>,
  tenant: TenantId,
  capability: Capability,
): Promise<Tenant> {
  const found = await requireTenant(deps, tenant);
  const authority = await authorityOf(deps, principal, found);
  if (!authority.isMember) throw tenantNotFound(tenant);
  if (!authority.allows(capability)) throw capabilityMissing(capability);
  return found;
}

/** Whether the principal may know of the tenant: of those it belongs to, and of the one it works in as an agent. */
export async function isInsider(
  { memberships }: AuthDependencies,
  principal: Pick<Principal, 'id' | 'tenant' | 'key'>,
  tenant: TenantId,
): Promise<boolean> {
  if (!reachesTenant(principal, tenant)) return false;
  return principal.tenant === tenant || memberships.has(tenant, principal.id);
}

/** `TenantNotFoundError` for the personal space too. */
export async function requireTenant({ tenants }: AuthDependencies, id: TenantId): Promise<Tenant> {
  const tenant = await tenants.get(id);
  if (tenant === null) throw tenantNotFound(id);
  return tenant;
}

export function tenantNotFound(id: TenantId) {
  return engramError('TenantNotFoundError', `Could not find tenant: ${wireTenant(id) ?? 'None'}`);
}

export function capabilityMissing(capability: Capability) {
  const what = capability.replaceAll('_', ' ');
  return engramError('PermissionDeniedError', `User is not authorized to ${what} for this tenant`);
}
