import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { type DatasetScope, datasetScope, type Scope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { put } from '../../common/records/base/repository.ts';
import { type Collection, type DocumentStore, remove, type Write } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** Retention of a tenant as its resource declares it; null: the server's. */
type TenantRetention = {
  /** After the last use of a session. */
  readonly sessionsMs: number | null;
  readonly eventsMs: number | null;
};

/** Retention of a dataset as its resource declares it. */
type DatasetRetention = {
  /** After an item was added last, also by the same bytes, or replaced. */
  readonly itemsMs: number;
};

export const tenantRetentionCollection: OwnedCollection<TenantRetention> = {
  name: 'tenant_retention',
  level: 'tenant',
  owner: 'ingest',
  belongsTo: { tenant: 'scope' },
  indexes: [],
};

export const datasetRetentionCollection: OwnedCollection<DatasetRetention> = {
  name: 'dataset_retention',
  level: 'dataset',
  owner: 'ingest',
  belongsTo: { dataset: 'scope' },
  indexes: [],
};

/** The stored value and its version, for the next write. */
export type StoredRetention<Retention> = Retention & { readonly version: number };

export interface RetentionRecords<Owner extends Scope, Retention> {
  /** Null: nothing is declared. */
  get(owner: Owner): Promise<StoredRetention<Retention> | null>;
  /** Retention of all owners. */
  all(): AsyncGenerator<{ readonly owner: Owner; readonly retention: Retention }>;
  /** `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before` was read. */
  putWrite(retention: Retention, before: StoredRetention<Retention> | null): Write;
  removeWrite(before: StoredRetention<Retention>): Write;
}

export interface Retentions {
  readonly ofTenants: RetentionRecords<{ readonly tenant: TenantId }, TenantRetention>;
  readonly ofDatasets: RetentionRecords<DatasetScope, DatasetRetention>;
}

/** One for each owner. */
const ID = 'current';
const PAGE = 200;

export function createRetentions(store: DocumentStore): Retentions {
  return {
    ofTenants: recordsIn(store, tenantRetentionCollection, ({ tenant }) => ({ tenant: asId<TenantId>(tenant ?? '') })),
    ofDatasets: recordsIn(store, datasetRetentionCollection, ({ tenant, dataset }) =>
      datasetScope(asId(tenant ?? ''), asId(dataset ?? '')),
    ),
  };
}

function recordsIn<Owner extends Scope, Retention extends TenantRetention | DatasetRetention>(
  store: DocumentStore,
  collection: Collection<Retention>,
  ownerOf: (stored: { readonly tenant: string | null; readonly dataset: string | null }) => Owner,
): RetentionRecords<Owner, Retention> {
  return {
    async get(owner) {
      const stored = await store.get(owner, collection, ID);
      return stored === null ? null : { ...stored.value, version: stored.version };
    },
    async *all() {
      for await (const page of pagesOf((after) => store.find(SYSTEM_SCOPE, collection, { limit: PAGE, after }))) {
        for (const stored of page) yield { owner: ownerOf(stored), retention: stored.value };
      }
    },
    putWrite: (retention, before) => put(collection, ID, retention, before),
    removeWrite: ({ version }) => remove(collection, ID, version),
  };
}
