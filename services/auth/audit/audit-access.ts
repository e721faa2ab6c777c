import type { TenantId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { capabilityMissing, requireCapability } from '../tenants/tenant-authority.ts';

/**
 * The tenant whose log is meant: the principal's own by default. `PermissionDeniedError` for who may not manage its users, and
 * alike for a tenant that does not exist. The log of the personal space tells of all accounts: superusers alone read it.
 */
export async function auditedTenant(
  deps: Pick<AuthDependencies, 'tenants' | 'memberships' | 'roles' | 'roleMembers' | 'capabilities'>,
  principal: Principal,
  wanted: TenantId = principal.tenant,
): Promise<TenantId> {
  if (wanted === PERSONAL_TENANT) {
    if (!principal.isSuperuser) throw capabilityMissing('manage_users');
    return wanted;
  }
  try {
    await requireCapability(deps, principal, wanted, 'manage_users');
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'TenantNotFoundError') throw capabilityMissing('manage_users');
    throw error;
  }
  return wanted;
}
