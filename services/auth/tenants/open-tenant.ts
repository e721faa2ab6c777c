import type { Principal } from '../../common/kernel/principal.ts';
import type { Closure } from '../../common/platform/messaging/messages.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { TenantActivity } from '../credentials/tenant-activity.ts';
import type { TenantCache } from '../credentials/tenant-cache.ts';
import type { AuthDependencies } from '../model.ts';

export interface WakeMetrics {
  /** From the request that wakes a tenant until the tenant serves. */
  tenantWoken(durationMs: number): void;
}

interface OpenTenantDependencies extends AuthDependencies {
  readonly tenantCache: TenantCache;
  readonly tenantActivity: TenantActivity;
  readonly wakes: WakeMetrics;
}

/**
 * Why the tenant that somebody works in does not answer; null when it does, and for one that is gone: nobody belongs to it any
 * more. One that sleeps because nobody used it wakes, where a request may wake it: then it is answered like any other.
 * What nobody need be there for neither keeps it awake nor wakes it.
 */
export async function openTenant(
  deps: OpenTenantDependencies,
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
    // Another request woke it, or it was put to sleep for good.
    deps.tenantCache.drop(tenant);
    const { state = 'Active' } = (await deps.tenantCache.get(tenant)) ?? {};
    return state === 'Active' ? null : state;
  }
  deps.notify.tenantChanged(tenant);
  deps.wakes.tenantWoken(deps.clock.monotonicMs() - startMs);
  deps.logger.info('auth.tenant.woken', { tenant });
  return null;
}
