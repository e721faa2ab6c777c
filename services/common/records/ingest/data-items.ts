import type { DataItem } from '../../domain/data-item.ts';
import type { DataItemId, UserId } from '../../kernel/brand.ts';
import { dataItemId } from '../../kernel/ids.ts';
import { entriesOf } from '../../kernel/result-page.ts';
import type { DatasetScope, Scope } from '../../kernel/scope.ts';
import { type DocumentStore, type Stored, update, type Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type DataItemDocument = Omit<DataItem, 'id'> & {
  /**
   * Since when its present content waits to be built, ISO-8601; empty: it is built. Changes in the commit that it describes.
   */
  readonly waitingSince: string;
};

export const dataItemsCollection: OwnedCollection<DataItemDocument> = {
  name: 'data_items',
  level: 'dataset',
  owner: 'ingest',
  writers: { cognify: 'the commit of a build notes that the item no longer waits' },
  readers: ['auth'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [
    { fields: ['ownerId', 'contentHash'], unique: true },
    { fields: ['createdAt'] },
    { fields: ['waitingSince'] },
  ],
};

const PAGE = 500;

export type DataItems = ReturnType<typeof createDataItems>;

/** Items of a dataset. Two items of one owner never hold the same bytes: the store refuses the second. */
export function createDataItems(store: DocumentStore) {
  const records = repository(store, dataItemsCollection, itemOf);
  const collection = dataItemsCollection;
  return {
    get: (scope: DatasetScope, id: DataItemId) => records.get(scope, id),
    getMany: (scope: DatasetScope, ids: readonly DataItemId[]) => records.getMany(scope, ids),
    findByContent: (scope: DatasetScope, owner: UserId, contentHash: string) =>
      records.first(scope, { where: { ownerId: owner, contentHash } }),
    /** The same for many at once; unknown hashes are left out. */
    findByContents: (scope: DatasetScope, owner: UserId, contentHashes: readonly string[]) =>
      records.allOf(scope, [...new Set(contentHashes)], (some) => ({
        where: { ownerId: owner, contentHash: { in: some } },
        // In the order of the index: any other would make the store read the whole dataset.
        sort: [{ field: 'ownerId' }, { field: 'contentHash' }],
      })),
    /** The datasets that hold an item id, for routes without a dataset. */
    async locate(scope: Scope, id: DataItemId) {
      const { items } = await store.find({ tenant: scope.tenant }, collection, { where: { id }, limit: 1000 });
      return items.flatMap((stored) =>
        stored.dataset === null ? [] : [{ dataset: stored.dataset, item: itemOf(stored) }],
      );
    },
    async newestFirst(scope: DatasetScope, page: { readonly offset: number; readonly limit: number }) {
      const sort = [{ field: 'createdAt' as const, descending: true }];
      return (await records.page(scope, { sort, ...page })).items;
    },
    oldestFirst: (scope: DatasetScope, page: { readonly after: string | null; readonly limit: number }) =>
      records.page(scope, { sort: [{ field: 'createdAt' }], ...page }),
    count: (scope: DatasetScope) => records.count(scope, {}),
    /** Number of items that wait to be built, of all items or of those named. */
    countWaiting: (scope: DatasetScope, among?: readonly DataItemId[]) =>
      among === undefined
        ? records.count(scope, { waitingSince: WAITING })
        : records.countOf(scope, among, (some) => ({ id: { in: some }, waitingSince: WAITING })),
    /** Since when the one waits that does so longest; those named do not count. Null: none does. */
    longestWait: (scope: DatasetScope, except: ReadonlySet<string>) => longestWait(store, scope, except),
    insertWrites: (items: readonly DataItem[]) =>
      items.map(({ id, ...document }) => records.insertWrite(id, { ...document, waitingSince: sinceOf(document) })),
    /** `VersionConflictError` in the commit when one of them was removed or replaced since it was read: they are counted. */
    removeWrites: (items: readonly Pick<DataItem, 'id' | 'sizeBytes' | 'revision' | 'isExpiring'>[]) =>
      items.flatMap((item) => [
        records.updateWrite(item.id, { where: asRead(item), required: true }),
        records.removeWrite(item.id),
      ]),
    /** `VersionConflictError` in the commit when `present` was removed or replaced since it was read. */
    replaceWrites: (present: DataItem, { id, ...next }: DataItem) => [
      records.updateWrite(id, {
        where: asRead(present),
        set: { ...next, waitingSince: sinceOf(next) },
        required: true,
      }),
    ],
    /** `VersionConflictError` in the commit when it was removed or is being deleted. */
    addedAgainWrite: (item: DataItemId, at: string) =>
      records.updateWrite(item, {
        where: { isExpiring: { exists: false } },
        set: { addedAgainAt: at },
        required: true,
      }),
    /**
     * Bars it from being replaced. `VersionConflictError` in the commit when it was removed, replaced or added again since
     * it was read.
     */
    expireWrite: (item: DataItem) =>
      records.updateWrite(item.id, {
        where: { ...asRead(item), addedAgainAt: item.addedAgainAt ?? { exists: false } },
        set: { isExpiring: true },
        required: true,
      }),
    /** Bars it from being replaced and from counting as kept; does nothing when it was removed. */
    forgetWrite: (item: DataItemId) => records.updateWrite(item, { set: { isExpiring: true } }),
  };
}

const WAITING = { greaterThan: '' };

async function longestWait(store: DocumentStore, scope: DatasetScope, except: ReadonlySet<string>) {
  const query = { where: { waitingSince: WAITING }, sort: [{ field: 'waitingSince' as const }], limit: PAGE };
  for await (const { id, value } of entriesOf((after) => store.find(scope, dataItemsCollection, { ...query, after }))) {
    if (!except.has(id)) return value.waitingSince ?? null;
  }
  return null;
}

/** For the commit that makes a build of the item visible. Later content still waits. */
export function builtWrite(item: DataItemId, version: string): Write {
  // As `contentVersion` puts them together.
  const end = version.indexOf(':');
  const [contentHash, revision] = end < 0 ? [version, undefined] : [version.slice(0, end), version.slice(end + 1)];
  const where = { contentHash, revision: revision ?? { exists: false } };
  return update(dataItemsCollection, item, { where, set: { waitingSince: '' } });
}

/** For the commit that removes the build of the item. */
export function unbuiltWrite(item: DataItemId, since: string): Write {
  return update(dataItemsCollection, item, { set: { waitingSince: since } });
}

function sinceOf({ createdAt, updatedAt }: Pick<DataItem, 'createdAt' | 'updatedAt'>): string {
  return updatedAt ?? createdAt;
}

/** Content of the same size may count for another API key. */
function asRead({ sizeBytes, revision, isExpiring }: Pick<DataItem, 'sizeBytes' | 'revision' | 'isExpiring'>) {
  return {
    sizeBytes,
    revision: revision ? revision : { exists: false },
    isExpiring: isExpiring ? true : { exists: false },
  };
}

function itemOf(stored: Stored<DataItemDocument>): DataItem {
  const { waitingSince: _, ...value } = stored.value;
  return { id: dataItemId(stored.id), ...value };
}
