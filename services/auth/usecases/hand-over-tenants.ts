import type { UserId } from '../../common/domain/brand.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/ports/document-store.ts';
import type { Tenant } from '../../common/repositories/tenants.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { type Departure, heirOfTenant } from './heirs.ts';

/** Gives every tenant of an account that goes another owner, who becomes a member if need be. */
export async function handOverTenants(deps: AuthDependencies, owner: UserId, departure: Departure): Promise<void> {
  for (;;) {
    const owned = await deps.tenants.ownedBy(owner);
    if (owned.length === 0) return;
    for (const tenant of owned) await handOver(deps, tenant, departure);
  }
}

async function handOver(deps: AuthDependencies, tenant: Tenant, departure: Departure): Promise<void> {
  const { tenants, memberships, users, clock } = deps;
  const heir = await heirOfTenant(deps, tenant, departure);
  const isMember = await memberships.has(tenant.id, heir);
  const details = { from: tenant.ownerId, to: heir };
  try {
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [
        tenants.passOnWrite(tenant, heir),
        users.touchWrite(heir),
        ...(isMember ? [] : [memberships.insertWrite(tenant.id, heir, clock.now().toISOString())]),
      ],
      [{ tenant: tenant.id, action: 'tenant.handed_over', actor: departure.by, subject: tenant.id, details }],
    );
  } catch (error) {
    // The tenant, its heir or the membership changed meanwhile: whoever is the owner now is looked up anew.
    if (!(error instanceof VersionConflictError || error instanceof DuplicateKeyError)) throw error;
  }
  deps.news.userChanged(heir);
}
