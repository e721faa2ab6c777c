import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type TenantHostDocument = { readonly tenantId: string };

/** One document per host name, which is its id: a name belongs to one tenant. */
export const tenantHostsCollection: Collection<TenantHostDocument> = {
  name: 'tenant_hosts',
  level: 'system',
  indexes: [{ fields: ['tenantId'] }],
};

/** The host names that select a tenant: lower case, without port or final dot. */
export interface TenantHosts {
  tenantOf(name: string): Promise<TenantId | null>;
  /** Sorted. */
  ofTenant(tenant: TenantId): Promise<readonly string[]>;
  /** `DuplicateKeyError` in the commit when a tenant has the name. */
  insertWrite(name: string, tenant: TenantId): Write;
  removeWrite(name: string): Write;
}

export function createTenantHosts(store: DocumentStore): TenantHosts {
  return {
    async tenantOf(name) {
      const stored = await store.get(SYSTEM_SCOPE, tenantHostsCollection, name);
      return stored === null ? null : asId(stored.value.tenantId);
    },
    async ofTenant(tenant) {
      const found = await findAll(store, SYSTEM_SCOPE, tenantHostsCollection, { where: { tenantId: tenant } });
      return found.map(({ id }) => id).sort();
    },
    insertWrite: (name, tenant) => insert(tenantHostsCollection, name, { tenantId: tenant }),
    removeWrite: (name) => remove(tenantHostsCollection, name),
  };
}
