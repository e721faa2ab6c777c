import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { asId } from '../../kernel/ids.ts';
import { type Scope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from '../base/find-all.ts';

type DatasetDocument = {
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  /** The API key that made it, whose budget it counts for; null or absent: none. */
  readonly keyId?: string | null;
};

/** Names are unique per owner and tenant, case-sensitively. */
export const datasetsCollection: Collection<DatasetDocument> = {
  name: 'datasets',
  level: 'tenant',
  indexes: [
    { fields: ['ownerId', 'name'], unique: true },
    { fields: ['ownerId'], wide: true },
  ],
};

export interface StoredDataset extends DatasetRef {
  readonly version: number;
  readonly keyId: string | null;
}

/** The registry of datasets; `grants` says who may use them. */
export interface Datasets {
  get(scope: Scope, id: DatasetId): Promise<StoredDataset | null>;
  /** Unknown ids are left out; the order is that of `ids`. */
  getMany(scope: Scope, ids: readonly DatasetId[]): Promise<readonly StoredDataset[]>;
  /** Datasets of an owner with one of the names, in no order. */
  ownedByName(scope: Scope, owner: UserId, names: readonly string[]): Promise<readonly StoredDataset[]>;
  /** At most `limit` (1 to 1000) datasets of an owner, in whatever tenant. */
  ofOwner(owner: UserId, limit: number): Promise<readonly StoredDataset[]>;
  /** At most `limit` (1 to 1000) datasets of the tenant, in no order. */
  ofTenant(scope: Scope, limit: number): Promise<readonly StoredDataset[]>;
  allOfTenant(scope: Scope): Promise<readonly StoredDataset[]>;
  /** `DuplicateKeyError` in the commit when the owner has the name already. */
  insertWrite(dataset: DatasetRef, keyId?: string): Write;
  /**
   * `VersionConflictError` in the commit when the dataset changed since it was read, `DuplicateKeyError` when the new owner
   * has the name already.
   */
  passOnWrite(
    dataset: StoredDataset,
    to: { readonly ownerId: UserId; readonly name: string; readonly at: string },
  ): Write;
  removeWrite(dataset: StoredDataset): Write;
}

const SLICE = 500;

export function createDatasets(store: DocumentStore): Datasets {
  const inSlices = async <Key>(
    keys: readonly Key[],
    read: (slice: readonly Key[]) => Promise<readonly Stored<DatasetDocument>[]>,
  ): Promise<readonly StoredDataset[]> => {
    const found: StoredDataset[] = [];
    for (const slice of slices(keys, SLICE)) {
      found.push(...(await read(slice)).map(datasetOf));
    }
    return found;
  };
  return {
    async get(scope, id) {
      const stored = await store.get(scope, datasetsCollection, id);
      return stored === null ? null : datasetOf(stored);
    },
    getMany: (scope, ids) => inSlices(ids, (slice) => store.getMany(scope, datasetsCollection, slice)),
    ownedByName(scope, owner, names) {
      return inSlices([...new Set(names)], async (slice) => {
        const query = {
          where: { ownerId: owner, name: { in: slice } },
          // In the order of the index: any other would make the store read the whole tenant.
          sort: [{ field: 'ownerId' as const }, { field: 'name' as const }],
          limit: SLICE,
        };
        return (await store.find(scope, datasetsCollection, query)).items;
      });
    },
    async ofOwner(owner, limit) {
      const { items } = await store.find(SYSTEM_SCOPE, datasetsCollection, { where: { ownerId: owner }, limit });
      return items.map(datasetOf);
    },
    async ofTenant(scope, limit) {
      return (await store.find(scope, datasetsCollection, { limit })).items.map(datasetOf);
    },
    allOfTenant: async (scope) => (await findAll(store, scope, datasetsCollection)).map(datasetOf),
    insertWrite({ id, name, ownerId, createdAt, updatedAt }, keyId) {
      return insert(datasetsCollection, id, { name, ownerId, createdAt, updatedAt, keyId: keyId ?? null });
    },
    passOnWrite: ({ id, createdAt, version, keyId }, { ownerId, name, at }) =>
      replace(datasetsCollection, id, { name, ownerId, createdAt, updatedAt: at, keyId }, version),
    removeWrite: ({ id, version }) => remove(datasetsCollection, id, version),
  };
}

/** The registry's answer as it travels between services. */
export function datasetRef({ id, name, ownerId, tenant, createdAt, updatedAt }: DatasetRef): DatasetRef {
  return { id, name, ownerId, tenant, createdAt, updatedAt };
}

function datasetOf({ id, version, tenant, value }: Stored<DatasetDocument>): StoredDataset {
  const { ownerId, keyId = null } = value;
  return { ...value, id: asId(id), version, ownerId: asId(ownerId), keyId, tenant: asId<TenantId>(tenant ?? '') };
}
