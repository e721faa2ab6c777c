import { ADMIN_ROLE, CAPABILITIES, type Capability } from '../../common/domain/capabilities.ts';
import type { PrincipalId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { AuthDependencies } from '../model.ts';

/** A user's rights in a tenant, beyond those on datasets. */
interface TenantAuthority {
  readonly isMember: boolean;
  /** Granted capabilities, in the order of the catalog. */
  readonly capabilities: readonly Capability[];
  /** Whether a check of the capability passes. A role named `admin` passes all checks without having capabilities. */
  allows(capability: Capability): boolean;
}

const NO_AUTHORITY: TenantAuthority = { isMember: false, capabilities: [], allows: () => false };

/**
 * The rights of a member: capabilities granted to the tenant, to the user's roles there and to the user; the owner has all.
 */
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

/** Returns the authority of the sender of a request: with a tenant's API key it has no rights in other tenants. */
export async function authorityOf(
  deps: AuthDependencies,
  principal: Pick<Principal, 'id' | 'key'>,
  tenant: Tenant,
): Promise<TenantAuthority> {
  return reachesTenant(principal, tenant.id) ? authorityIn(deps, principal.id, tenant) : NO_AUTHORITY;
}

/** The capabilities that the principal may use in its current tenant. */
export async function heldCapabilities(deps: AuthDependencies, principal: Principal): Promise<readonly Capability[]> {
  const tenant = principal.tenant === PERSONAL_TENANT ? null : await deps.tenants.get(principal.tenant);
  if (tenant === null) return [];
  const authority = await authorityOf(deps, principal, tenant);
  return authority.isMember ? CAPABILITIES.filter((capability) => authority.allows(capability)) : [];
}

/**
 * Returns the tenant if the principal has the capability in it. Errors: `PermissionDeniedError` for a member without it;
 * `TenantNotFoundError` for non-members, to whom a tenant looks like one that does not exist, and for the personal space.
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

/** Whether the principal may know of the tenant: it is a member, or works in it as an agent. */
export async function isInsider(
  { memberships }: AuthDependencies,
  principal: Pick<Principal, 'id' | 'tenant' | 'key'>,
  tenant: TenantId,
): Promise<boolean> {
  if (!reachesTenant(principal, tenant)) return false;
  return principal.tenant === tenant || memberships.has(tenant, principal.id);
}

/** Errors: `TenantNotFoundError`, also for the personal space. */
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
