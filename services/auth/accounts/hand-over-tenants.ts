import type { UserId } from '../../common/kernel/brand.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { type Departure, heirOfTenant } from './heirs.ts';

/** Gives every tenant of an account that goes another owner, who becomes a member if need be. */
export async function handOverTenants(deps: AuthDependencies, owner: UserId, departure: Departure): Promise<void> {
  const handOverOwned = async () => {
    const owned = await deps.tenants.ownedBy(owner);
    for (const tenant of owned) await handOver(deps, tenant, departure);
    return owned.length > 0;
  };
  while (await retryOnConflict(handOverOwned)) {
    // Until it owns none.
  }
}

async function handOver(deps: AuthDependencies, tenant: Tenant, departure: Departure): Promise<void> {
  const { tenants, memberships, users, clock, eventLog } = deps;
  const heir = await heirOfTenant(deps, tenant, departure);
  const isMember = await memberships.has(tenant.id, heir);
  const details = { from: tenant.ownerId, to: heir };
  const joined = { type: 'membership.added', subjectId: heir, data: {} };
  const reassigned = { type: 'tenant.reassigned', subjectId: tenant.id, data: { ownerId: heir } };
  await deps.audit.commit(
    { tenant: tenant.id },
    [
      tenants.passOnWrite(tenant, heir),
      users.touchWrite(heir),
      ...(isMember ? [] : [memberships.insertWrite(tenant.id, heir, clock.now().toISOString())]),
      ...eventLog.appendWrites({ tenant: tenant.id }, isMember ? [reassigned] : [joined, reassigned]),
    ],
    [
      { tenant: tenant.id, action: 'tenant.reassigned', actor: departure.by, subject: tenant.id, details },
      ...(isMember ? [] : [{ tenant: tenant.id, action: 'membership.added', actor: departure.by, subject: heir }]),
    ],
  );
  deps.news.accessChanged(tenant.id, [heir]);
  // Its keys act as the new owner.
  deps.news.tenantChanged(tenant.id);
}
