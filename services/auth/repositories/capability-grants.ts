import { type Capability, isCapability } from '../../common/domain/capabilities.ts';
import type { PrincipalId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { repository, withVersion } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type CapabilityGrantDocument = {
  readonly holderId: string;
  readonly capability: string;
  readonly grantedBy: string;
  readonly createdAt: string;
};

export const capabilityGrantsCollection: OwnedCollection<CapabilityGrantDocument> = {
  name: 'capability_grants',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { user: 'holderId', tenant: 'scope' },
  indexes: [{ fields: ['holderId'] }, { fields: ['holderId'], wide: true }],
};

interface CapabilityGrant {
  readonly holder: PrincipalId;
  readonly capability: Capability;
}

/** Capabilities granted to users, roles and tenants. Reads and writes are within the tenant of the scope. */
export function createCapabilityGrants(store: DocumentStore) {
  const records = repository(store, capabilityGrantsCollection, withVersion);
  return {
    async ofHolders(tenant: TenantId, holders: readonly PrincipalId[]): Promise<readonly CapabilityGrant[]> {
      const found = await records.all(
        { tenant },
        {
          where: { holderId: { in: holders } },
          sort: [{ field: 'holderId' }],
        },
      );
      return found.flatMap(({ holderId, capability }) =>
        isCapability(capability) ? [{ holder: asId<UserId>(holderId), capability }] : [],
      );
    },
    /** `DuplicateKeyError` in the commit when it is granted already. */
    insertWrite: ({ holder, capability }: CapabilityGrant, by: UserId, createdAt: string) =>
      records.insertWrite(grantId(holder, capability), {
        holderId: holder,
        capability,
        grantedBy: by,
        createdAt,
      }),
    removeWrite: ({ holder, capability }: CapabilityGrant) => records.removeWrite(grantId(holder, capability)),
    removeAllOfHolderWrite: (holder: PrincipalId) => records.removeWhereWrite({ holderId: holder }),
  };
}

function grantId(holder: PrincipalId, capability: Capability): string {
  return `${holder}/${capability}`;
}
