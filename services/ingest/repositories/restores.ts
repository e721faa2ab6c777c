import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';
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
export const restoresCollection: Collection<RestoreDocument> = {
  name: 'restores',
  level: 'system',
  indexes: [{ fields: ['isComplete', 'leasedUntilMs'] }],
};

export interface Restore extends Omit<RestoreDocument, 'datasetId' | 'tenantId'> {
  readonly crUid: string;
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly version: number;
}

export interface Restores {
  get(crUid: string): Promise<Restore | null>;
  /** Those that nobody goes on with since then, at most 100. */
  abandoned(beforeMs: number): Promise<readonly Restore[]>;
  /** `DuplicateKeyError` in the commit when there is one. */
  insertWrite(restore: Omit<Restore, 'version'>): Write;
  /** `VersionConflictError` in the commit when it changed since it was read. */
  replaceWrite(restore: Restore): Write;
  removeWrite(restore: Restore): Write;
}

export function createRestores(store: DocumentStore): Restores {
  const collection = restoresCollection;
  return {
    async get(crUid) {
      const stored = await store.get(SYSTEM_SCOPE, collection, crUid);
      return stored === null ? null : restoreOf(stored);
    },
    async abandoned(beforeMs) {
      const where = { isComplete: false, leasedUntilMs: { lessThan: beforeMs } };
      return (await store.find(SYSTEM_SCOPE, collection, { where, limit: 100 })).items.map(restoreOf);
    },
    insertWrite: ({ crUid, ...document }) => insert(collection, crUid, document),
    replaceWrite: ({ crUid, version, ...document }) => replace(collection, crUid, document, version),
    removeWrite: ({ crUid, version }) => remove(collection, crUid, version),
  };
}

function restoreOf({ id, version, value }: Stored<RestoreDocument>): Restore {
  return { ...value, crUid: id, version, tenantId: asId(value.tenantId), datasetId: asId(value.datasetId) };
}
