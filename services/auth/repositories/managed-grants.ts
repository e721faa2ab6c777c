import type { DatasetId, PrincipalId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Permission } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type ManagedGrantDocument = {
  readonly datasetId: string;
  readonly holderId: string;
  readonly permission: Permission;
};

/** Single permissions that were granted because a resource declares them; `grants` has the effective permissions. */
export const managedGrantsCollection: OwnedCollection<ManagedGrantDocument> = {
  name: 'managed_grants',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { tenant: 'scope', dataset: 'datasetId' },
  indexes: [{ fields: ['datasetId'] }],
};

export interface SinglePermission {
  readonly holder: PrincipalId;
  readonly permission: Permission;
}

/** Reads and writes are within the tenant of the scope. */
export function createManagedGrants(store: DocumentStore) {
  const records = repository(store, managedGrantsCollection, grantOf);
  return {
    ofDataset: (scope: Scope, dataset: DatasetId) => records.all(scope, { where: { datasetId: dataset } }),
    /** `DuplicateKeyError` in the commit when it is recorded already. */
    insertWrite: (dataset: DatasetId, { holder, permission }: SinglePermission) =>
      records.insertWrite(idOf(dataset, { holder, permission }), { datasetId: dataset, holderId: holder, permission }),
    removeWrite: (dataset: DatasetId, grant: SinglePermission) => records.removeWrite(idOf(dataset, grant)),
    removeAllWrite: (dataset: DatasetId) => records.removeWhereWrite({ datasetId: dataset }),
  };
}

function grantOf({ value: { holderId, permission } }: Stored<ManagedGrantDocument>): SinglePermission {
  return { holder: asId(holderId), permission };
}

function idOf(dataset: DatasetId, { holder, permission }: SinglePermission): string {
  return `${dataset}/${holder}/${permission}`;
}
