import type { DatasetId, TenantId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { DatasetScope, SystemScope } from '../domain/scope.ts';
import type { Collection, DocumentStore, Write } from '../ports/document-store.ts';
import { insert, remove } from '../ports/document-store.ts';

type BlobIntent = { readonly prefixes: readonly string[]; readonly at: string };

/**
 * Blobs about to be written for records that are not committed yet. The intent goes in the commit that makes the records,
 * so one that is left tells of blobs nobody owns: the sweep at start removes them.
 */
export const blobIntentsCollection: Collection<BlobIntent> = {
  name: 'blob_intents',
  level: 'dataset',
  indexes: [{ fields: ['at'] }],
};

export interface BlobIntents {
  declare(scope: DatasetScope, id: string, prefixes: readonly string[], at: string): Promise<void>;
  settleWrites(id: string): readonly Write[];
  settle(scope: DatasetScope, id: string): Promise<void>;
  /** Intents declared before `before`, of every tenant. */
  stale(
    scope: SystemScope,
    before: string,
  ): Promise<readonly { readonly id: string; readonly scope: DatasetScope; readonly prefixes: readonly string[] }[]>;
}

export function createBlobIntents(store: DocumentStore): BlobIntents {
  return {
    async declare(scope, id, prefixes, at) {
      await store.commit(scope, [insert(blobIntentsCollection, id, { prefixes, at })]);
    },
    settleWrites: (id) => [remove(blobIntentsCollection, id)],
    async settle(scope, id) {
      await store.commit(scope, [remove(blobIntentsCollection, id)]);
    },
    async stale(scope, before) {
      const found = await store.find(scope, blobIntentsCollection, {
        where: { at: { lessThan: before } },
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
