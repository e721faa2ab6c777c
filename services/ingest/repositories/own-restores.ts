import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Scope, SystemScope } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { Leased } from './leased.ts';

type OwnRestoreDocument = Leased & {
  readonly userId: string;
  /** The API key that it was asked for with. */
  readonly keyId: string | null;
  /** Of the dataset that is being made; nobody can name it yet. */
  readonly datasetId: string;
  readonly name: string;
  /** What is being done, in a few words. */
  readonly step: string;
  /** Parts. */
  readonly done: number;
  readonly total: number;
  readonly source: {
    /** Where the parts lie. */
    readonly tenantId: string;
    readonly name: string;
    /** The dataset that it is a snapshot of; null: it came as a file, which goes with this. */
    readonly datasetId: string | null;
  };
  /** False while the file is still being kept. */
  readonly isReady: boolean;
};

/** Datasets that users are making from snapshots. Written by ingest. */
export const ownRestoresCollection: OwnedCollection<OwnRestoreDocument> = {
  name: 'own_restores',
  level: 'tenant',
  owner: 'ingest',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['userId', 'isComplete'] }, { fields: ['isComplete', 'leasedUntilMs'], wide: true }],
};

export interface OwnRestore extends Omit<OwnRestoreDocument, 'datasetId' | 'userId'> {
  readonly id: string;
  readonly tenant: TenantId;
  readonly userId: UserId;
  readonly datasetId: DatasetId;
  readonly version: number;
}

export type OwnRestores = ReturnType<typeof createOwnRestores>;

export function createOwnRestores(store: DocumentStore) {
  const records = repository(store, ownRestoresCollection, restoreOf);
  const collection = ownRestoresCollection;
  return {
    get: ({ tenant }: Scope, id: string) => records.get({ tenant }, id),
    /** Those of the user that are neither complete nor failed. */
    async countOpen({ tenant }: Scope, userId: UserId): Promise<number> {
      // Those that failed are there, too, for whoever asks how it went.
      const found = await findAll(store, { tenant }, collection, { where: { userId, isComplete: false } });
      return found.filter(({ value }) => value.failure === null).length;
    },
    /** Those that nobody has touched since then, of all tenants, at most 100. */
    async untouched(scope: SystemScope, beforeMs: number, isComplete: boolean): Promise<readonly OwnRestore[]> {
      const where = { isComplete, leasedUntilMs: { lessThan: beforeMs } };
      return (await records.page(scope, { where, limit: 100 })).items;
    },
    insertWrite: ({ id, ...document }: Omit<OwnRestore, 'version' | 'tenant'>) => records.insertWrite(id, document),
    /** `VersionConflictError` in the commit when it changed since it was read. */
    replaceWrite: ({ id, version, tenant: _, ...document }: OwnRestore) => records.replaceWrite(id, document, version),
    removeWrite: ({ id, version }: OwnRestore) => records.removeWrite(id, version),
  };
}

function restoreOf({ id, version, tenant, value }: Stored<OwnRestoreDocument>): OwnRestore {
  const { userId, datasetId } = value;
  return { ...value, id, version, tenant: asId(tenant ?? ''), userId: asId(userId), datasetId: asId(datasetId) };
}
