import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type ManagedDocument = Omit<ManagedResource, keyof ManagedThing> & {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId | null;
};

/** A resource manages one thing, and a thing is managed by one resource: the id of a document is that of the thing. */
export const managedResourcesCollection: OwnedCollection<ManagedDocument> = {
  name: 'managed_resources',
  level: 'system',
  owner: 'auth',
  writers: { ingest: 'a restore keeps the record of the resource as it is for its commit' },
  readers: ['cognify', 'integrations'],
  belongsTo: { tenant: 'tenantId' },
  indexes: [{ fields: ['crUid'], unique: true }, { fields: ['tenantId'] }],
};

/** A tenant, or a dataset of one. */
export interface ManagedThing {
  readonly tenant: TenantId;
  readonly dataset: DatasetId | null;
}

/** A tenant or dataset with the Kubernetes resource that manages it. */
export interface ManagedResource extends ManagedThing {
  /** `metadata.uid` of the resource: a Tenant, or a Dataset where there is a dataset. */
  readonly crUid: string;
  /** It is being erased; no other change is allowed. */
  readonly isErasing: boolean;
  readonly since: string;
}

export type ManagedResources = ReturnType<typeof createManagedResources>;

export function createManagedResources(store: DocumentStore) {
  const records = repository(store, managedResourcesCollection, managedOf);
  const asRead = ({ crUid, isErasing }: ManagedResource) => ({ crUid, isErasing });
  return {
    byResource: (crUid: string) => records.first(SYSTEM_SCOPE, { where: { crUid } }),
    of: (thing: ManagedThing) => records.get(SYSTEM_SCOPE, idOfThing(thing)),
    /** `DuplicateKeyError` in the commit when the resource manages something, or the thing is managed. */
    insertWrite: ({ tenant, dataset, ...resource }: ManagedResource) =>
      records.insertWrite(idOfThing({ tenant, dataset }), { ...resource, tenantId: tenant, datasetId: dataset }),
    /** Keeps it unchanged for the rest of the commit, else `VersionConflictError`. */
    keepWrite: (resource: ManagedResource) =>
      records.updateWrite(idOfThing(resource), { where: asRead(resource), required: true }),
    /** `VersionConflictError` in the commit when it is not as it was read. */
    eraseWrite: (resource: ManagedResource) =>
      records.updateWrite(idOfThing(resource), { where: asRead(resource), set: { isErasing: true }, required: true }),
    removeWrite: (thing: ManagedThing) => records.removeWrite(idOfThing(thing)),
  };
}

function idOfThing({ tenant, dataset }: ManagedThing): string {
  return dataset === null ? `tenant/${tenant}` : `dataset/${tenant}/${dataset}`;
}

function managedOf({ value: { tenantId, datasetId, ...resource } }: Stored<ManagedDocument>): ManagedResource {
  return { ...resource, tenant: tenantId, dataset: datasetId };
}
