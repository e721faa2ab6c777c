import type { Principal } from '../../common/kernel/principal.ts';
import type { Closure } from '../../common/platform/messaging/messages.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';

/**
 * Returns the reason why the principal's tenant does not serve requests; null when it does, and when the tenant is gone, to
 * which has no members then. A tenant that hibernates because it was not used is woken, if requests may wake it, and serves
 * then. An unattended request neither keeps the tenant awake nor wakes it.
 */
export async function openTenant(
  deps: AuthDependencies,
  { id, tenant }: Principal,
  unattended = false,
): Promise<Closure | null> {
  const facts = await deps.tenantCache.get(tenant);
  if (facts === null) return null;
  if (facts.state === 'Active') {
    if (facts.hibernation !== null && !unattended) deps.tenantActivity.record(tenant);
    return null;
  }
  if (unattended || !facts.isAsleep || facts.hibernation?.wakesOnRequest !== true) return facts.state;
  const startMs = deps.clock.monotonicMs();
  const entry = { tenant, action: 'tenant.woken', actor: id, subject: tenant, details: {} };
  try {
    await deps.audit.commit({ tenant }, [deps.tenants.wakeWrite(tenant, deps.clock.now().toISOString())], [entry]);
  } catch (error) {
    if (!(error instanceof VersionConflictError)) throw error;
    // Another request woke it, or it was hibernated permanently.
    deps.tenantCache.drop(tenant);
    const { state = 'Active' } = (await deps.tenantCache.get(tenant)) ?? {};
    return state === 'Active' ? null : state;
  }
  deps.notify.tenantChanged(tenant);
  deps.wakes.tenantWoken(deps.clock.monotonicMs() - startMs);
  deps.logger.info('auth.tenant.woken', { tenant });
  return null;
}
