import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Scope, SystemScope } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import type { WorkState } from '../model.ts';

type SnapshotDocument = WorkState & {
  readonly datasetId: string;
  /** Items. */
  readonly done: number;
  readonly total: number;
  /** ISO-8601: the moment that it shows; of one that is being taken, when that began. */
  readonly at: string;
  /** Number of the last event of the dataset before that; null: none. Absent until it is complete. */
  readonly event?: number | null;
  readonly items: number;
  readonly sizeBytes: number;
  /** Hash of its manifest. */
  readonly sha256: string;
  /** Without any credential. */
  readonly place: string;
  /** It is in the blob store of the installation. */
  readonly isInstalled: boolean;
  /** The user that asked for it over HTTP; absent: a resource's. */
  readonly takenBy?: string;
  /** Operation of the request that gave no name; a repetition of the request finds the snapshot by it. */
  readonly operationId?: string;
};

/** The index of backups, by name: also of those that are being taken, which are not listed. */
export const snapshotsCollection: OwnedCollection<SnapshotDocument> = {
  name: 'snapshots',
  level: 'tenant',
  owner: 'ingest',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['datasetId', 'at'] }, { fields: ['isComplete', 'touchedAtMs'], wide: true }],
};

export interface SnapshotRecord extends Omit<SnapshotDocument, 'datasetId'> {
  readonly tenant: TenantId;
  readonly name: string;
  readonly datasetId: DatasetId;
  readonly version: number;
}

type Snapshots = ReturnType<typeof createSnapshots>;

/** The index of snapshots, and where they lie. */
export interface SnapshotIndex {
  readonly snapshots: Snapshots;
  readonly places: SnapshotPlaces;
  readonly store: DocumentStore;
}

export function createSnapshots(store: DocumentStore) {
  const records = repository(store, snapshotsCollection, recordOf);
  const collection = snapshotsCollection;
  return {
    get: ({ tenant }: Scope, name: string) => records.get({ tenant }, name),
    /** Newest first; without a dataset all of the tenant. */
    async list({ tenant }: Scope, dataset?: DatasetId): Promise<readonly SnapshotRecord[]> {
      const where = dataset === undefined ? {} : { datasetId: dataset };
      const found = await findAll(store, { tenant }, collection, { where });
      return found.map(recordOf).sort((one, other) => (one.at < other.at ? 1 : -1));
    },
    /** Incomplete ones that were not worked on since then, of all tenants, at most 100. */
    async incomplete(scope: SystemScope, beforeMs: number): Promise<readonly SnapshotRecord[]> {
      const where = { isComplete: false, touchedAtMs: { lessThan: beforeMs } };
      return (await records.page(scope, { where, limit: 100 })).items;
    },
    /** `DuplicateKeyError` in the commit when there is one of the name. */
    insertWrite: ({ name, ...document }: Omit<SnapshotRecord, 'version' | 'tenant'>) =>
      records.insertWrite(name, document),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ name, version, tenant: _, ...document }: SnapshotRecord) =>
      records.replaceWrite(name, document, version),
    removeWrite: ({ name, version }: SnapshotRecord) => records.removeWrite(name, version),
  };
}

function recordOf({ id, version, tenant, value }: Stored<SnapshotDocument>): SnapshotRecord {
  const ids = { name: id, version, tenant: asId<TenantId>(tenant ?? ''), datasetId: asId<DatasetId>(value.datasetId) };
  return { ...value, ...ids };
}
