import type { TenantHibernation, TenantState } from '../../common/domain/tenant-state.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createTtlCache } from '../../common/kernel/ttl-cache.ts';
import type { MonotonicClock } from '../../common/ports/system.ts';
import type { Tenants } from '../../common/records/auth/tenants.ts';
import type { TenantHosts } from '../repositories/tenant-hosts.ts';

/** The properties of a tenant that every request in it depends on. */
interface CachedTenant {
  /** Null: the personal space. */
  readonly ownerId: UserId | null;
  readonly state: TenantState;
  readonly hostNames: readonly string[];
  /** Null: it does not hibernate by itself. */
  readonly hibernation: TenantHibernation | null;
  /** Hibernated because it was not used. */
  readonly isAsleep: boolean;
}

/**
 * Caches tenants for a moment. A change calls `drop`, here at once and in other processes by an event; if the event is lost,
 * the change takes effect after a second.
 */
export type TenantCache = ReturnType<typeof createTenantCache>;

interface TenantCacheOptions {
  readonly tenants: Tenants;
  readonly hosts: TenantHosts;
  readonly clock: MonotonicClock;
}

const PERSONAL: CachedTenant = {
  ownerId: null,
  state: 'Active',
  hostNames: [],
  hibernation: null,
  isAsleep: false,
};

export function createTenantCache({ tenants, hosts, clock }: TenantCacheOptions) {
  const facts = createTtlCache<TenantId, CachedTenant | null>({ clock });
  const names = createTtlCache<string, TenantId | null>({ clock });
  const load = async (id: TenantId): Promise<CachedTenant | null> => {
    const [tenant, hostNames] = await Promise.all([tenants.get(id), hosts.ofTenant(id)]);
    if (tenant === null) return null;
    const { ownerId, state, hibernation, isAsleep } = tenant;
    return { ownerId, state, hostNames, hibernation, isAsleep };
  };
  return {
    /** Null: there is no such tenant. */
    get: async (tenant: TenantId) => (tenant === PERSONAL_TENANT ? PERSONAL : facts.of(tenant, () => load(tenant))),
    /** The tenant with the host name: lower case, without port or final dot. */
    byHostName: (name: string) => names.of(name, () => hosts.tenantOf(name)),
    drop(tenant: TenantId) {
      facts.drop((key) => key === tenant);
      // Host names may have been added to the tenant or removed; there are few, so all are dropped.
      names.drop(() => true);
    },
  };
}
