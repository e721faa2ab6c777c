import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import { requireCapability } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import type { ScimResources } from '../repositories/scim-resources.ts';
import { scimError } from './scim-error.ts';

export interface ScimDependencies extends AuthDependencies {
  readonly scimResources: ScimResources;
  /** Tenants that a sign-in provider is configured for. */
  readonly providerTenants: ReadonlySet<TenantId>;
}

/** The directory of a tenant, and on whose word it changes. */
export interface Directory {
  readonly tenant: Tenant;
  readonly by: UserId;
  /**
   * What it says of addresses is true: the operator has named the tenant as that of a sign-in provider, or a superuser asks.
   * Anybody can make a tenant and say that somebody's address is that of an account of theirs; who proves it at a provider
   * would then work there.
   */
  readonly isTrusted: boolean;
}

/** That of the tenant the principal works in. 403 for who may not manage its users, and in a personal space. */
export async function directoryOf(deps: ScimDependencies, principal: Principal): Promise<Directory> {
  try {
    const tenant = await requireCapability(deps, principal, principal.tenant, 'manage_users');
    return { tenant, by: principal.id, isTrusted: principal.isSuperuser || deps.providerTenants.has(tenant.id) };
  } catch (error) {
    // Who is told "may not" while the store is away starts to doubt its credential.
    if (!isEngramError(error) || error.status >= 500) throw error;
    throw scimError(
      403,
      'The account of the credential must work in a tenant (POST /api/v1/permissions/tenants/select) and hold manage_users there.',
    );
  }
}

/** The same for every reason: whose account it is, is nobody's business. */
export function addressTaken() {
  return scimError(409, 'The userName or the e-mail address is in use.', 'uniqueness');
}

const DONE = ['EntityAlreadyExistsError', 'EntityNotFoundError', 'UserNotFoundError'];

/** Of a step that somebody else may have taken first: then it is done. */
export async function unlessDone(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isEngramError(error) || !DONE.includes(error.wireName)) throw error;
  }
}
