import type { TenantHibernation, TenantState } from '../../common/domain/tenant-state.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
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
 * Caches tenants for a moment, so that a burst of requests costs one look-up. A change calls `drop`, here at once and in
 * other processes by an event; if the event is lost, the change takes effect after `TTL_MS`.
 */
export type TenantCache = ReturnType<typeof createTenantCache>;

const TTL_MS = 1000;
/** For each kind of entry: clients can send any host name. */
const MAX_ENTRIES = 10_000;

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

export function createTenantCache(options: TenantCacheOptions) {
  const { tenants, hosts } = options;
  const facts = createMemory<TenantId, CachedTenant | null>(options, async (id) => {
    const [tenant, hostNames] = await Promise.all([tenants.get(id), hosts.ofTenant(id)]);
    if (tenant === null) return null;
    const { ownerId, state, hibernation, isAsleep } = tenant;
    return { ownerId, state, hostNames, hibernation, isAsleep };
  });
  const names = createMemory<string, TenantId | null>(options, (name) => hosts.tenantOf(name));
  return {
    /** Null: there is no such tenant. */
    get: async (tenant: TenantId) => (tenant === PERSONAL_TENANT ? PERSONAL : facts.get(tenant)),
    /** The tenant with the host name: lower case, without port or final dot. */
    byHostName: (name: string) => names.get(name),
    drop(tenant: TenantId) {
      facts.drop((key) => key === tenant);
      // Host names may have been added to the tenant or removed; there are few, so all are dropped.
      names.drop(() => true);
    },
  };
}

function createMemory<Key, Value>({ clock }: TenantCacheOptions, load: (key: Key) => Promise<Value>) {
  const entries = new Map<Key, { readonly value: Value; readonly untilMs: number }>();
  let era = 0;
  return {
    async get(key: Key): Promise<Value> {
      const now = clock.monotonicMs();
      const known = entries.get(key);
      if (known !== undefined && now < known.untilMs) return known.value;
      const eraBefore = era;
      const value = await load(key);
      // A change that was announced meanwhile may concern what was read.
      if (eraBefore !== era) return value;
      entries.delete(key);
      if (entries.size >= MAX_ENTRIES) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      entries.set(key, { value, untilMs: now + TTL_MS });
      return value;
    },
    drop(isMeant: (key: Key) => boolean): void {
      era += 1;
      for (const key of entries.keys()) if (isMeant(key)) entries.delete(key);
    },
  };
}
