import { type Capability, isCapability } from '../../common/domain/capabilities.ts';
import type { PrincipalId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type CapabilityGrantDocument = {
  readonly holderId: string;
  readonly capability: string;
  readonly grantedBy: string;
  readonly createdAt: string;
};

export const capabilityGrantsCollection: Collection<CapabilityGrantDocument> = {
  name: 'capability_grants',
  level: 'tenant',
  indexes: [{ fields: ['holderId'] }, { fields: ['holderId'], wide: true }],
};

export interface CapabilityGrant {
  readonly holder: PrincipalId;
  readonly capability: Capability;
}

/** Capabilities that users, roles and tenants were granted. Everything is in the tenant of the scope, writes too. */
export interface CapabilityGrants {
  ofHolders(tenant: TenantId, holders: readonly PrincipalId[]): Promise<readonly CapabilityGrant[]>;
  /** `DuplicateKeyError` in the commit when it was granted before. */
  insertWrite(grant: CapabilityGrant, by: UserId, createdAt: string): Write;
  removeWrite(grant: CapabilityGrant): Write;
  removeAllOfHolderWrite(holder: PrincipalId): Write;
}

export function createCapabilityGrants(store: DocumentStore): CapabilityGrants {
  return {
    async ofHolders(tenant, holders) {
      const found = await findAll(store, { tenant }, capabilityGrantsCollection, {
        where: { holderId: { in: holders } },
        sort: [{ field: 'holderId' }],
      });
      return found.flatMap(({ value: { holderId, capability } }) =>
        isCapability(capability) ? [{ holder: asId<UserId>(holderId), capability }] : [],
      );
    },
    insertWrite: ({ holder, capability }, by, createdAt) =>
      insert(capabilityGrantsCollection, grantId(holder, capability), {
        ...{ holderId: holder, capability, grantedBy: by, createdAt },
      }),
    removeWrite: ({ holder, capability }) => remove(capabilityGrantsCollection, grantId(holder, capability)),
    removeAllOfHolderWrite: (holder) => removeWhere(capabilityGrantsCollection, { holderId: holder }),
  };
}

function grantId(holder: PrincipalId, capability: Capability): string {
  return `${holder}/${capability}`;
}
