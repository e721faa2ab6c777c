import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type TenantHostDocument = { readonly tenantId: string };

/** One document per host name, which is its id, so a name belongs to one tenant. */
export const tenantHostsCollection: OwnedCollection<TenantHostDocument> = {
  name: 'tenant_hosts',
  level: 'system',
  owner: 'auth',
  belongsTo: { tenant: 'tenantId' },
  indexes: [{ fields: ['tenantId'] }],
};

export type TenantHosts = ReturnType<typeof createTenantHosts>;

/** The host names that select a tenant: lower case, without port or final dot. */
export function createTenantHosts(store: DocumentStore) {
  const records = repository(store, tenantHostsCollection, hostOf);
  return {
    async tenantOf(name: string): Promise<TenantId | null> {
      return (await records.get(SYSTEM_SCOPE, name))?.tenant ?? null;
    },
    /** Sorted. */
    async ofTenant(tenant: TenantId): Promise<readonly string[]> {
      const found = await records.all(SYSTEM_SCOPE, { where: { tenantId: tenant } });
      return found.map(({ name }) => name).sort();
    },
    /** `DuplicateKeyError` in the commit when a tenant has the name already. */
    insertWrite: (name: string, tenant: TenantId) => records.insertWrite(name, { tenantId: tenant }),
    removeWrite: (name: string) => records.removeWrite(name),
  };
}

function hostOf({ id, value }: Stored<TenantHostDocument>) {
  return { name: id, tenant: asId<TenantId>(value.tenantId) };
}
