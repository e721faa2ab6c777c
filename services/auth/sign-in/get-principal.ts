import { canaryAccount, canaryPrincipal } from '../../common/domain/canary.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { type ApiKey, hasExpired, presentedKey } from '../../common/records/auth/api-keys.ts';
import { principalOf } from '../../common/records/auth/users.ts';
import { belongsTo, isAdmitted } from '../access/admission.ts';
import type { AuthDependencies } from '../model.ts';

/**
 * Returns the user as a principal in the tenant that a job was started in. Null when the account is gone, inactive or no
 * longer belongs to the tenant; when the tenant is disabled; and when the API key that the job was started with is no longer
 * valid.
 */
export async function getPrincipal(
  deps: AuthDependencies,
  {
    userId,
    tenant,
    key,
    unattended = false,
  }: {
    readonly userId: UserId;
    readonly tenant: TenantId;
    readonly key?: string | undefined;
    readonly unattended?: boolean | undefined;
  },
): Promise<Principal | null> {
  if (userId === canaryAccount(tenant)) return canaryOf(deps, tenant);
  const user = await deps.users.get(userId);
  if (user === null || !(await isAdmitted(deps, user))) return null;
  if (!(await belongsTo(deps, user, tenant))) return null;
  const facts = await deps.tenantCache.get(tenant);
  // Jobs of a hibernated tenant are finished; new ones do not start.
  if (facts?.state === 'Disabled' || facts?.state === 'Erasing') return null;
  // Jobs count as use of the tenant.
  if (facts !== null && facts.hibernation !== null && !unattended) deps.tenantActivity.record(tenant);
  const principal = { ...principalOf(user), tenant };
  if (key === undefined) return principal;
  const presented = await deps.apiKeys.get(key);
  if (presented === null || hasExpired(presented, deps.clock.now())) return null;
  const isOfTenant = presented.tenant !== null;
  if (
    isOfTenant ? !actsAs(presented, user.id, { tenant, ownerId: facts?.ownerId ?? null }) : presented.userId !== user.id
  )
    return null;
  return { ...principal, key: presentedKey(presented), ...(isOfTenant ? { isSuperuser: false } : {}) };
}

/** The canary has no account: it may act while the tenant is open. */
async function canaryOf({ tenantCache }: AuthDependencies, tenant: TenantId): Promise<Principal | null> {
  const facts = await tenantCache.get(tenant);
  const isOpen = facts !== null && facts.state !== 'Disabled' && facts.state !== 'Erasing';
  return isOpen ? canaryPrincipal(tenant) : null;
}

/** Whether a tenant's key lets the user act in the tenant: as its owner. */
function actsAs(
  key: ApiKey,
  user: UserId,
  { tenant, ownerId }: { readonly tenant: TenantId; readonly ownerId: UserId | null },
): boolean {
  return key.tenant === tenant && user === ownerId;
}
