import type { UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import { requireCapability } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import { scimError } from './scim-error.ts';

/** The directory of a tenant, and the user in whose name it is changed. */
export interface Directory {
  readonly tenant: Tenant;
  readonly by: UserId;
  /**
   * Whether its e-mail addresses count as verified: the operator has configured the tenant for a sign-in provider, or the
   * request is a superuser's. In any other tenant a directory could claim the address of another person, who would work in
   * that tenant after signing in with a provider.
   */
  readonly isTrusted: boolean;
}

/**
 * Returns the directory of the tenant that the principal works in. 403 for a principal who may not manage its users, and in a
 * personal space.
 */
export async function directoryOf(deps: AuthDependencies, principal: Principal): Promise<Directory> {
  try {
    const tenant = await requireCapability(deps, principal, principal.tenant, 'manage_users');
    return { tenant, by: principal.id, isTrusted: principal.isSuperuser || deps.providerTenants.has(tenant.id) };
  } catch (error) {
    // An unavailable store is reported as such, and not as a missing permission.
    if (!isEngramError(error) || error.status >= 500) throw error;
    throw scimError(
      403,
      'The account of the credential must work in a tenant (POST /api/v1/permissions/tenants/select) and hold manage_users there.',
    );
  }
}

/** The same error for every reason, so that it does not reveal whose account it is. */
export function addressTaken() {
  return scimError(409, 'The userName or the e-mail address is in use.', 'uniqueness');
}

const DONE = ['EntityAlreadyExistsError', 'EntityNotFoundError', 'UserNotFoundError'];

/** Ignores the error of a step that a concurrent request has taken already. */
export async function unlessDone(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isEngramError(error) || !DONE.includes(error.wireName)) throw error;
  }
}
