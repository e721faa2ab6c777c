import type { TenantId } from '../../common/kernel/brand.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Tenants } from '../../common/records/auth/tenants.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { TenantCache } from './tenant-cache.ts';

/** When tenants that go to sleep by themselves were used last. */
export interface TenantActivity {
  /** It is used now. Written at most once a minute, beside the request; fails never. */
  record(tenant: TenantId): void;
  /** Waits for what is being written. */
  settle(): Promise<void>;
}

/** Nobody sleeps after less than ten minutes. */
const STEP_MS = 60_000;

export function createTenantActivity({
  store,
  tenants,
  tenantCache,
  clock,
  logger,
}: {
  readonly store: DocumentStore;
  readonly tenants: Pick<Tenants, 'changeWrite'>;
  readonly tenantCache: Pick<TenantCache, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): TenantActivity {
  const notedAt = new Map<TenantId, number>();
  const writing = new Set<Promise<void>>();
  const write = async (tenant: TenantId): Promise<void> => {
    const facts = await tenantCache.get(tenant);
    if (facts === null || facts.hibernation === null || facts.state !== 'Active') return;
    const lastUsedAt = clock.now().toISOString();
    await store.commit({ tenant }, [tenants.changeWrite(tenant, { lastUsedAt })]);
  };
  return {
    record(tenant) {
      const now = clock.monotonicMs();
      const before = notedAt.get(tenant);
      if (before !== undefined && now - before < STEP_MS) return;
      notedAt.set(tenant, now);
      const work = write(tenant)
        .catch((error: unknown) => {
          notedAt.delete(tenant);
          logger.warn('auth.tenant_use.unwritten', { tenant, error });
        })
        .finally(() => writing.delete(work));
      writing.add(work);
    },
    async settle() {
      await Promise.all(writing);
    },
  };
}
