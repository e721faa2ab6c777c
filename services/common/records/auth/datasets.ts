import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { asId } from '../../kernel/ids.ts';
import { type Scope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type DatasetDocument = {
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  /** The API key that made it, whose budget it counts for; null or absent: none. */
  readonly keyId?: string | null;
  /** See `SourceReader.version`; null or absent: no source says who sees its items. */
  readonly sourceAccess?: string | null;
};

/** Names are unique per owner and tenant, case-sensitively. */
export const datasetsCollection: OwnedCollection<DatasetDocument> = {
  name: 'datasets',
  level: 'tenant',
  owner: 'auth',
  writers: {
    integrations: 'notes in the commit that changes who sees the items of a source that it did',
    ingest: 'does so when it keeps what sessions taught',
  },
  readers: ['cognify'],
  belongsTo: { tenant: 'scope' },
  indexes: [
    { fields: ['ownerId', 'name'], unique: true },
    { fields: ['ownerId'], wide: true },
  ],
};

export interface StoredDataset extends DatasetRef {
  readonly version: number;
  readonly keyId: string | null;
  readonly sourceAccess: string | null;
}

export type Datasets = ReturnType<typeof createDatasets>;

/** The registry of datasets; `grants` says who may use them. */
export function createDatasets(store: DocumentStore) {
  const records = repository(store, datasetsCollection, datasetOf);
  return {
    get: (scope: Scope, id: DatasetId) => records.get(scope, id),
    /** Unknown ids are left out; the order is that of `ids`. */
    getMany: (scope: Scope, ids: readonly DatasetId[]) => records.getMany(scope, ids),
    /** Datasets of an owner with one of the names, in no order. */
    ownedByName: (scope: Scope, owner: UserId, names: readonly string[]) =>
      records.allOf(scope, [...new Set(names)], (some) => ({
        where: { ownerId: owner, name: { in: some } },
        // In the order of the index: any other would make the store read the whole tenant.
        sort: [{ field: 'ownerId' }, { field: 'name' }],
      })),
    /** At most `limit` (1 to 1000) datasets of an owner, in whatever tenant. */
    async ofOwner(owner: UserId, limit: number): Promise<readonly StoredDataset[]> {
      return (await records.page(SYSTEM_SCOPE, { where: { ownerId: owner }, limit })).items;
    },
    /** At most `limit` (1 to 1000) datasets of the tenant, in no order. */
    async ofTenant(scope: Scope, limit: number): Promise<readonly StoredDataset[]> {
      return (await records.page(scope, { limit })).items;
    },
    allOfTenant: async (scope: Scope) => await records.all(scope),
    /** `DuplicateKeyError` in the commit when the owner has the name already. */
    insertWrite(
      { id, name, ownerId, createdAt, updatedAt }: DatasetRef,
      keyId?: string,
      sourceAccess: string | null = null,
    ): Write {
      return records.insertWrite(id, { name, ownerId, createdAt, updatedAt, keyId: keyId ?? null, sourceAccess });
    },
    /** Who sees the items of its sources has changed: `version` is a new one. */
    sourceAccessWrite: (id: DatasetId, version: string): Write =>
      records.updateWrite(id, { set: { sourceAccess: version } }),
    /**
     * `VersionConflictError` in the commit when the dataset changed since it was read, `DuplicateKeyError` when the new owner
     * has the name already.
     */
    transferWrite: (
      { id, createdAt, version, keyId, sourceAccess }: StoredDataset,
      { ownerId, name, at }: { readonly ownerId: UserId; readonly name: string; readonly at: string },
    ) => records.replaceWrite(id, { name, ownerId, createdAt, updatedAt: at, keyId, sourceAccess }, version),
    removeWrite: ({ id, version }: StoredDataset) => records.removeWrite(id, version),
  };
}

/** The registry's answer as it travels between services. */
export function datasetRef({ id, name, ownerId, tenant, createdAt, updatedAt }: DatasetRef): DatasetRef {
  return { id, name, ownerId, tenant, createdAt, updatedAt };
}

function datasetOf({ id, version, tenant, value }: Stored<DatasetDocument>): StoredDataset {
  const { ownerId, keyId = null, sourceAccess = null } = value;
  const noted = { keyId, sourceAccess };
  return { ...value, ...noted, id: asId(id), version, ownerId: asId(ownerId), tenant: asId<TenantId>(tenant ?? '') };
}
