import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { Leased } from './leased.ts';

type RestoreDocument = Leased & {
  readonly tenantId: string;
  /** Of the dataset that is being made; nobody can name it yet. */
  readonly datasetId: string;
  /** What is being done, in a few words. */
  readonly step: string;
  /** Parts. */
  readonly done: number;
  readonly total: number;
};

/** Datasets that are being made from snapshots, by the resource that asks for it. Written by ingest. */
export const restoresCollection: OwnedCollection<RestoreDocument> = {
  name: 'restores',
  level: 'system',
  owner: 'ingest',
  belongsTo: 'system',
  indexes: [{ fields: ['isComplete', 'leasedUntilMs'] }],
};

export interface Restore extends Omit<RestoreDocument, 'datasetId' | 'tenantId'> {
  readonly crUid: string;
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly version: number;
}

export type Restores = ReturnType<typeof createRestores>;

export function createRestores(store: DocumentStore) {
  const records = repository(store, restoresCollection, restoreOf);
  return {
    get: (crUid: string) => records.get(SYSTEM_SCOPE, crUid),
    /** Those that nobody goes on with since then, at most 100. */
    async abandoned(beforeMs: number): Promise<readonly Restore[]> {
      const where = { isComplete: false, leasedUntilMs: { lessThan: beforeMs } };
      return (await records.page(SYSTEM_SCOPE, { where, limit: 100 })).items;
    },
    /** `DuplicateKeyError` in the commit when there is one. */
    insertWrite: ({ crUid, ...document }: Omit<Restore, 'version'>) => records.insertWrite(crUid, document),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ crUid, version, ...document }: Restore) => records.replaceWrite(crUid, document, version),
    removeWrite: ({ crUid, version }: Restore) => records.removeWrite(crUid, version),
  };
}

function restoreOf({ id, version, value }: Stored<RestoreDocument>): Restore {
  return { ...value, crUid: id, version, tenantId: asId(value.tenantId), datasetId: asId(value.datasetId) };
}
