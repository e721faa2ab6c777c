import type { TenantId } from '../../common/kernel/brand.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Tenants } from '../../common/records/auth/tenants.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { TenantCache } from './tenant-cache.ts';

/** Records the last use of tenants that hibernate when they are not used. */

/** Tenants hibernate after ten minutes at the earliest. */
const STEP_MS = 60_000;

export function createTenantActivity({
  store,
  tenants,
  tenantCache,
  clock,
  logger,
}: {
  readonly store: DocumentStore;
  readonly tenants: Tenants;
  readonly tenantCache: TenantCache;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const recordedAt = new Map<TenantId, number>();
  const writing = new Set<Promise<void>>();
  const write = async (tenant: TenantId): Promise<void> => {
    const facts = await tenantCache.get(tenant);
    if (facts === null || facts.hibernation === null || facts.state !== 'Active') return;
    const lastUsedAt = clock.now().toISOString();
    await store.commit({ tenant }, [tenants.changeWrite(tenant, { lastUsedAt })]);
  };
  return {
    /** Records a use now: written at most once a minute, without delaying the request. Never fails. */
    record(tenant: TenantId) {
      const now = clock.monotonicMs();
      const before = recordedAt.get(tenant);
      if (before !== undefined && now - before < STEP_MS) return;
      recordedAt.set(tenant, now);
      const work = write(tenant)
        .catch((error: unknown) => {
          recordedAt.delete(tenant);
          logger.warn('auth.tenant_activity.write_failed', { tenant, error });
        })
        .finally(() => writing.delete(work));
      writing.add(work);
    },
    /** Waits for writes in flight. */
    async settle() {
      await Promise.all(writing);
    },
  };
}
