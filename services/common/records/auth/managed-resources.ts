import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';

type ManagedDocument = {
  /** `metadata.uid` of the resource. */
  readonly crUid: string;
  readonly tenantId: string;
  /** Null: the resource is a Tenant. */
  readonly datasetId: string | null;
  readonly isErasing: boolean;
  readonly since: string;
};

/** A resource manages one thing, and a thing is managed by one resource: the id of a document is that of the thing. */
export const managedResourcesCollection: Collection<ManagedDocument> = {
  name: 'managed_resources',
  level: 'system',
  indexes: [{ fields: ['crUid'], unique: true }, { fields: ['tenantId'] }],
};

/** A tenant, or a dataset of one. */
export interface ManagedThing {
  readonly tenant: TenantId;
  readonly dataset: DatasetId | null;
}

/** What a Kubernetes resource manages. */
export interface ManagedResource extends ManagedThing {
  readonly crUid: string;
  /** Its erasure has begun: nothing else is done to it any more. */
  readonly isErasing: boolean;
  readonly since: string;
}

export interface ManagedResources {
  byResource(crUid: string): Promise<ManagedResource | null>;
  of(thing: ManagedThing): Promise<ManagedResource | null>;
  /** `DuplicateKeyError` in the commit when the resource manages something, or the thing is managed. */
  insertWrite(resource: ManagedResource): Write;
  /** For the rest of the commit it is as it was read, else `VersionConflictError`. */
  keepWrite(resource: ManagedResource): Write;
  /** `VersionConflictError` in the commit when it is not as it was read. */
  eraseWrite(resource: ManagedResource): Write;
  removeWrite(thing: ManagedThing): Write;
}

export function createManagedResources(store: DocumentStore): ManagedResources {
  const asRead = ({ crUid, isErasing }: ManagedResource) => ({ crUid, isErasing });
  return {
    async byResource(crUid) {
      const { items } = await store.find(SYSTEM_SCOPE, managedResourcesCollection, { where: { crUid }, limit: 1 });
      return items[0] === undefined ? null : managedOf(items[0]);
    },
    async of(thing) {
      const stored = await store.get(SYSTEM_SCOPE, managedResourcesCollection, idOfThing(thing));
      return stored === null ? null : managedOf(stored);
    },
    insertWrite: ({ tenant, dataset, crUid, isErasing, since }) =>
      insert(managedResourcesCollection, idOfThing({ tenant, dataset }), {
        ...{ crUid, tenantId: tenant, datasetId: dataset, isErasing, since },
      }),
    keepWrite: (resource) =>
      update(managedResourcesCollection, idOfThing(resource), { where: asRead(resource), required: true }),
    eraseWrite: (resource) =>
      update(managedResourcesCollection, idOfThing(resource), {
        ...{ where: asRead(resource), set: { isErasing: true }, required: true },
      }),
    removeWrite: (thing) => remove(managedResourcesCollection, idOfThing(thing)),
  };
}

function idOfThing({ tenant, dataset }: ManagedThing): string {
  return dataset === null ? `tenant/${tenant}` : `dataset/${tenant}/${dataset}`;
}

function managedOf({ value }: Stored<ManagedDocument>): ManagedResource {
  const { crUid, tenantId, datasetId, isErasing, since } = value;
  return {
    ...{ crUid, isErasing, since, tenant: asId(tenantId) },
    dataset: datasetId === null ? null : asId(datasetId),
  };
}
