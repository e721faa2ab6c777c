import type { Grant } from '../../common/domain/permissions.ts';
import type { DatasetId, PrincipalId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERMISSIONS, type Permission } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { datasetsCollection } from '../../common/records/auth/datasets.ts';
import { repository } from '../../common/records/base/repository.ts';
import {
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  update,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type GrantDocument = {
  readonly datasetId: string;
  readonly holderId: string;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  readonly share: boolean;
};

/**
 * One document per dataset and holder (a user, a tenant or a role). Of tenant level: the most frequent question is what a
 * holder may do in a tenant, and indexes start with the tenant.
 */
export const grantsCollection: OwnedCollection<GrantDocument> = {
  name: 'grants',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { user: 'holderId', tenant: 'scope', dataset: 'datasetId' },
  indexes: [{ fields: ['holderId'] }, { fields: ['datasetId'] }, { fields: ['holderId'], wide: true }],
};

export interface GrantChange {
  readonly holder: PrincipalId;
  readonly permission: Permission;
  readonly isGiven: boolean;
}

const PAGE = 1000;
const NONE = { read: false, write: false, delete: false, share: false };
const ALL = { read: true, write: true, delete: true, share: true };

/** Permissions on datasets. Reads and writes are within the tenant of the scope. */
export function createGrants(store: DocumentStore) {
  const records = repository(store, grantsCollection, grantOf);
  return {
    /** All grants of the holders in the tenant. */
    ofHolders: (scope: Scope, holders: readonly PrincipalId[]) =>
      records.all(scope, {
        where: { holderId: { in: holders } },
        // In the order of the index: with another the store would read the whole tenant.
        sort: [{ field: 'holderId' }],
      }),
    /** The grants of the holders on the datasets, in one read. */
    async on(scope: Scope, datasets: readonly DatasetId[], holders: readonly PrincipalId[]): Promise<readonly Grant[]> {
      const ids = datasets.flatMap((dataset) => holders.map((holder) => grantId(dataset, holder)));
      const grants: Grant[] = [];
      for (const slice of slices(ids, PAGE)) {
        grants.push(...(await records.getMany(scope, slice)));
      }
      return grants;
    },
    /** All grants on the dataset. */
    onDataset: (scope: Scope, dataset: DatasetId) => records.all(scope, { where: { datasetId: dataset } }),
    /**
     * Writes that give the holders exactly these permissions on the dataset; an empty set removes the grant. In the commit:
     * `DuplicateKeyError` or `VersionConflictError` when their grants changed since they were read here, or when the dataset
     * is gone.
     */
    async exactWrites(
      scope: Scope,
      dataset: DatasetId,
      permissions: ReadonlyMap<PrincipalId, ReadonlySet<Permission>>,
    ): Promise<readonly Write[]> {
      const ids = [...permissions.keys()].map((holder) => grantId(dataset, holder));
      const stored = await store.getMany(scope, grantsCollection, ids);
      const existing = new Map(stored.map((grant) => [grant.id, grant]));
      const writes = [...permissions].flatMap(([holder, wanted]) => {
        const id = grantId(dataset, holder);
        return exactWrite({ dataset, holder, wanted }, existing.get(id));
      });
      return writes.length === 0 ? [] : [update(datasetsCollection, dataset, { required: true }), ...writes];
    },
    /** All permissions for the holders on a dataset that is created in the same commit. */
    insertAllWrites: (dataset: DatasetId, holders: readonly PrincipalId[]) =>
      holders.map((holder) =>
        records.insertWrite(grantId(dataset, holder), { datasetId: dataset, holderId: holder, ...ALL }),
      ),
    /**
     * Writes that give or take a permission, for the datasets on which that changes something. In the commit:
     * `DuplicateKeyError` or `VersionConflictError` when the holder's grants changed since they were read here, or when a
     * dataset to be shared is gone.
     */
    async changes(scope: Scope, datasets: readonly DatasetId[], change: GrantChange) {
      const existing = await grantsOf(store, scope, datasets, change.holder);
      return datasets.flatMap((dataset) => {
        const write = changeWrite(dataset, change, existing.get(grantId(dataset, change.holder)));
        if (write === null) return [];
        // The dataset is touched in the same commit: a grant that outlived it would apply to a later dataset of the same
        // name.
        const touchDataset = update(datasetsCollection, dataset, { required: true });
        return [{ dataset, writes: change.isGiven ? [touchDataset, write] : [write] }];
      });
    },
    /**
     * Writes that give one holder all four permissions on datasets that are touched in the same commit. `DuplicateKeyError`
     * or `VersionConflictError` in the commit when the holder's grants changed since they were read here.
     */
    async giveAllWrites(scope: Scope, datasets: readonly DatasetId[], holder: PrincipalId): Promise<readonly Write[]> {
      const existing = await grantsOf(store, scope, datasets, holder);
      return datasets.map((dataset) => {
        const id = grantId(dataset, holder);
        const document = { datasetId: dataset, holderId: holder, ...ALL };
        const stored = existing.get(id);
        return records.putWrite(id, document, stored);
      });
    },
    removeAllWrite: (dataset: DatasetId) => records.removeWhereWrite({ datasetId: dataset }),
    /** In all tenants when it is committed under `SystemScope`. */
    removeAllOfHolderWrite: (holder: PrincipalId) => records.removeWhereWrite({ holderId: holder }),
  };
}

/** Null when nothing changes. A grant without permissions is removed. */
function changeWrite(
  dataset: DatasetId,
  { holder, permission, isGiven }: GrantChange,
  existing: Stored<GrantDocument> | undefined,
): Write | null {
  const id = grantId(dataset, holder);
  if ((existing?.value[permission] ?? false) === isGiven) return null;
  if (existing === undefined) {
    return insert(grantsCollection, id, { datasetId: dataset, holderId: holder, ...NONE, [permission]: true });
  }
  const value = { ...existing.value, [permission]: isGiven };
  const isEmpty = PERMISSIONS.every((each) => !value[each]);
  return isEmpty
    ? remove(grantsCollection, id, existing.version)
    : replace(grantsCollection, id, value, existing.version);
}

function exactWrite(
  {
    dataset,
    holder,
    wanted,
  }: { readonly dataset: DatasetId; readonly holder: PrincipalId; readonly wanted: ReadonlySet<Permission> },
  existing: Stored<GrantDocument> | undefined,
): readonly Write[] {
  const id = grantId(dataset, holder);
  if (wanted.size === 0) return existing === undefined ? [] : [remove(grantsCollection, id, existing.version)];
  const flags = Object.fromEntries(PERMISSIONS.map((each) => [each, wanted.has(each)])) as Record<Permission, boolean>;
  const document = { datasetId: dataset, holderId: holder, ...flags };
  if (existing === undefined) return [insert(grantsCollection, id, document)];
  return [replace(grantsCollection, id, document, existing.version)];
}

function grantId(dataset: DatasetId, holder: PrincipalId): string {
  return `${dataset}/${holder}`;
}

function grantOf({ value }: Stored<GrantDocument>): Grant {
  const permissions = new Set(PERMISSIONS.filter((permission) => value[permission]));
  return { holder: asId(value.holderId), dataset: asId(value.datasetId), permissions };
}

/** The grants of one holder, by id. */
async function grantsOf(store: DocumentStore, scope: Scope, datasets: readonly DatasetId[], holder: PrincipalId) {
  const existing = new Map<string, Stored<GrantDocument>>();
  for (const slice of slices(datasets, PAGE)) {
    const ids = slice.map((dataset) => grantId(dataset, holder));
    for (const stored of await store.getMany(scope, grantsCollection, ids)) existing.set(stored.id, stored);
  }
  return existing;
}
