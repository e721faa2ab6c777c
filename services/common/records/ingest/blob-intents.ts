import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { DatasetScope, SystemScope } from '../../kernel/scope.ts';
import { type DocumentStore, insert, remove, update, type Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';

type BlobIntent = { readonly prefixes: readonly string[]; readonly at: string; readonly abandoned?: boolean };

/** No intent changes between its declaration and the commit of its records. */
const DECLARED_VERSION = 1;

/**
 * Blobs about to be written for records that are not committed yet. The intent goes in the commit that makes the records,
 * so one that is left tells of blobs nobody owns: a sweep removes them. A process that removes such blobs abandons the intent
 * first, in whatever process: the records cannot be committed any more then.
 */
export const blobIntentsCollection: OwnedCollection<BlobIntent> = {
  name: 'blob_intents',
  level: 'dataset',
  owner: 'ingest',
  writers: { integrations: 'declares the blobs of a download before they are written' },
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['at'], wide: true }],
};

export type BlobIntents = ReturnType<typeof createBlobIntents>;

export function createBlobIntents(store: DocumentStore) {
  return {
    async declare(scope: DatasetScope, id: string, prefixes: readonly string[], at: string): Promise<void> {
      await store.commit(scope, [insert(blobIntentsCollection, id, { prefixes, at })]);
    },
    /** To be committed with the change that leaves the blobs without an owner: the caller removes them, or else a sweep does. */
    leaveWrites: (id: string, prefixes: readonly string[], at: string) => [
      insert(blobIntentsCollection, id, { prefixes, at }),
    ],
    /** To be committed with the records; fail the commit with `VersionConflictError` when the intent was abandoned. */
    settleWrites: (id: string) => [remove(blobIntentsCollection, id, DECLARED_VERSION)],
    /** False when there is no such intent: its records are committed, or its blobs were swept. */
    async abandon(scope: DatasetScope, id: string): Promise<boolean> {
      const [result] = await store.commit(scope, [abandonment(id)]);
      return result?.changed === 1;
    },
    /** For a dataset that is deleted: no pending addition to it can be committed any more. */
    async abandonAll(scope: DatasetScope): Promise<void> {
      const open = await findAll(store, scope, blobIntentsCollection);
      for (const { id } of open) await store.commit(scope, [abandonment(id)]);
    },
    /** Its blobs were removed. */
    async settle(scope: DatasetScope, id: string): Promise<void> {
      await store.commit(scope, [remove(blobIntentsCollection, id)]);
    },
    /** Intents declared before `before`, of every tenant. */
    async stale(scope: SystemScope, before: string) {
      const found = await store.find(scope, blobIntentsCollection, {
        where: { at: { lessThan: before } },
        sort: [{ field: 'at' }],
        limit: 1000,
      });
      return found.items.flatMap(({ id, tenant, dataset, value }) =>
        tenant === null || dataset === null
          ? []
          : [
              {
                id,
                scope: { tenant: asId<TenantId>(tenant), dataset: asId<DatasetId>(dataset) },
                prefixes: value.prefixes,
              },
            ],
      );
    },
  };
}

function abandonment(id: string): Write {
  return update(blobIntentsCollection, id, { set: { abandoned: true } });
}
