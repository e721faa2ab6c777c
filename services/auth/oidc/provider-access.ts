import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retry } from '../../common/platform/async/retry.ts';
import type { RoleMapping } from '../../common/platform/config/oidc-providers.ts';
import { NO_PASSWORD } from '../../common/records/auth/users.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import { createRole, joinRole, leaveRole } from '../access/roles.ts';
import type { LinkedIdentity } from '../repositories/linked-identities.ts';
import type { Role } from '../repositories/roles.ts';
import { joinTenant } from '../tenants/memberships.ts';
import { accountOf, type LinkedAccount } from './linked-account.ts';
import { claimValues, type OidcDependencies, type ProvenIdentity } from './oidc-client.ts';

/**
 * Makes the user a member of the provider's tenant, once per user: a user who was removed from it does not come back by
 * signing in. Errors: `ServiceUnavailableError` when the configured tenant does not exist.
 */
export async function joinProviderTenant(
  deps: OidcDependencies,
  { provider }: ProvenIdentity,
  { user, link }: LinkedAccount,
): Promise<void> {
  const { tenant } = provider;
  if (tenant === null || link.joinedTenants.includes(tenant)) return;
  try {
    await joinTenant(deps, { tenant, user: user.id }, null);
  } catch (error) {
    if (isNamed(error, 'TenantNotFoundError')) {
      deps.logger.error('auth.oidc.tenant_missing', { provider: provider.name, tenant });
      throw engramError('ServiceUnavailableError', `The tenant of ${provider.title} does not exist.`, { cause: error });
    }
    // Already a member, by an invitation or an interrupted sign-in.
    if (!isNamed(error, 'EntityAlreadyExistsError')) throw error;
  }
  await recordMembership(deps, link, tenant);
}

/** Records the membership in the link. A user without a password works in the tenant of the provider from then on. */
async function recordMembership(deps: OidcDependencies, link: LinkedIdentity, tenant: TenantId): Promise<void> {
  const { store, users, linkedIdentities, notify } = deps;
  const attempt = async () => {
    const user = await users.get(link.userId);
    const movesIn = user !== null && user.tenant === PERSONAL_TENANT && user.passwordHash === NO_PASSWORD;
    const writes = movesIn ? [users.replaceWrite({ ...user, tenant })] : [];
    await store.commit({ tenant: PERSONAL_TENANT }, [linkedIdentities.joinedWrite(link, tenant), ...writes]);
    if (movesIn) notify.userChanged(user.id);
  };
  // A missing link is not retried.
  await retry(attempt, { isRetryable: (error) => error instanceof VersionConflictError && error.id === link.userId });
}

/**
 * Assigns and takes the roles that are mapped to the provider's claims; other roles stay. A mapped role that does not exist
 * is created. Only members of the tenant have roles.
 */
export async function applyMappedRoles(deps: OidcDependencies, identity: ProvenIdentity, user: UserId): Promise<void> {
  const { tenant, roles: mapping } = identity.provider;
  if (tenant === null || mapping === null || !(await deps.memberships.has(tenant, user))) return;
  const wanted = wantedRoles(identity, mapping);
  for (const name of new Set(Object.values(mapping.values))) {
    const role = await deps.roles.findByName(tenant, name);
    if (wanted.has(name)) await giveRole(deps, role ?? (await createMappedRole(deps, tenant, name)), user);
    else if (role !== null) await leaveRole(deps, { role: role.id, user }, null);
  }
}

function wantedRoles({ claims }: ProvenIdentity, { claim, values }: RoleMapping): ReadonlySet<string> {
  const given = claimValues(claims, claim);
  return new Set(Object.entries(values).flatMap(([value, role]) => (given.has(value) ? [role] : [])));
}

async function giveRole(deps: OidcDependencies, { id: role }: Role, user: UserId): Promise<void> {
  if (await deps.roleMembers.has(role, user)) return;
  try {
    await joinRole(deps, { role, user }, null);
  } catch (error) {
    // A concurrent sign-in was faster.
    if (!isNamed(error, 'EntityAlreadyExistsError')) throw error;
  }
}

async function createMappedRole(deps: OidcDependencies, tenant: TenantId, name: string): Promise<Role> {
  try {
    return await createRole(deps, { tenant, name }, null);
  } catch (error) {
    const made = isNamed(error, 'EntityAlreadyExistsError') ? await deps.roles.findByName(tenant, name) : null;
    if (made === null) throw error;
    return made;
  }
}

function isNamed(error: unknown, name: string): boolean {
  return isEngramError(error) && error.wireName === name;
}

/**
 * Returns the account of an access token of a configured issuer: the linked one, or one that is linked or created as by a
 * first sign-in. Roles follow the claims of browser sign-ins, since access tokens often lack them; only the first use applies
 * its own. Null for refused tokens. Errors: `ServiceUnavailableError` while the issuer's keys cannot be loaded.
 */
export async function ownerOfIssuerToken(deps: OidcDependencies, token: string) {
  if (deps.oidc === null) return null;
  const holder = await deps.oidc.client.readAccessToken(token);
  if (holder === null) return null;
  const { identity, endsAt } = holder;
  try {
    const account = await accountOf(deps, identity);
    await joinProviderTenant(deps, identity, account);
    if (account.isNew) await applyMappedRoles(deps, identity, account.user.id);
    const user = await deps.users.get(account.user.id);
    return user === null ? null : { user, endsAt };
  } catch (error) {
    if (isEngramError(error) && error.status < 500) return null;
    throw error;
  }
}
