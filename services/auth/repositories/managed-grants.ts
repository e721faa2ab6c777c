import type { DatasetId, PrincipalId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Permission } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type ManagedGrantDocument = {
  readonly datasetId: string;
  readonly holderId: string;
  readonly permission: Permission;
};

/** Which single permissions were given because a resource declares them; `grants` says who has what. */
export const managedGrantsCollection: Collection<ManagedGrantDocument> = {
  name: 'managed_grants',
  level: 'tenant',
  indexes: [{ fields: ['datasetId'] }],
};

export interface SinglePermission {
  readonly holder: PrincipalId;
  readonly permission: Permission;
}

/** In the tenant of the scope. */
export interface ManagedGrants {
  ofDataset(scope: Scope, dataset: DatasetId): Promise<readonly SinglePermission[]>;
  /** `DuplicateKeyError` in the commit when it is noted already. */
  insertWrite(dataset: DatasetId, grant: SinglePermission): Write;
  removeWrite(dataset: DatasetId, grant: SinglePermission): Write;
  removeAllWrite(dataset: DatasetId): Write;
}

export function createManagedGrants(store: DocumentStore): ManagedGrants {
  return {
    async ofDataset(scope, dataset) {
      const found = await findAll(store, scope, managedGrantsCollection, { where: { datasetId: dataset } });
      return found.map(({ value: { holderId, permission } }) => ({ holder: asId(holderId), permission }));
    },
    insertWrite: (dataset, { holder, permission }) =>
      insert(managedGrantsCollection, idOf(dataset, { holder, permission }), {
        ...{ datasetId: dataset, holderId: holder, permission },
      }),
    removeWrite: (dataset, grant) => remove(managedGrantsCollection, idOf(dataset, grant)),
    removeAllWrite: (dataset) => removeWhere(managedGrantsCollection, { datasetId: dataset }),
  };
}

function idOf(dataset: DatasetId, { holder, permission }: SinglePermission): string {
  return `${dataset}/${holder}/${permission}`;
}
