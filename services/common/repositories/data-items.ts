import type { DataItemId, UserId } from '../domain/brand.ts';
import type { DataItem } from '../domain/data-item.ts';
import { dataItemId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Page } from '../domain/result-page.ts';
import type { DatasetScope, Scope } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  type Filter,
  insert,
  remove,
  type Stored,
  update,
  type Write,
} from '../ports/document-store.ts';

type DataItemDocument = {
  readonly name: string;
  readonly fileName: string;
  readonly label: string | null;
  readonly ownerId: string;
  readonly extension: string;
  readonly mimeType: string;
  readonly format: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly revision?: string | null;
  readonly nodeSets: readonly string[];
  readonly externalMetadata: JsonObject;
  readonly importanceWeight: number;
  readonly keyId?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

export const dataItemsCollection: Collection<DataItemDocument> = {
  name: 'data_items',
  level: 'dataset',
  indexes: [{ fields: ['ownerId', 'contentHash'], unique: true }, { fields: ['createdAt'] }],
};

/** Items of a dataset. Two items of one owner never hold the same bytes: the store refuses the second. */
export interface DataItems {
  get(scope: DatasetScope, id: DataItemId): Promise<DataItem | null>;
  getMany(scope: DatasetScope, ids: readonly DataItemId[]): Promise<readonly DataItem[]>;
  findByContent(scope: DatasetScope, owner: UserId, contentHash: string): Promise<DataItem | null>;
  /** The same for many at once; what no item holds is left out. */
  findByContents(scope: DatasetScope, owner: UserId, contentHashes: readonly string[]): Promise<readonly DataItem[]>;
  /** Where an id stands, for routes that know no dataset. */
  locate(scope: Scope, id: DataItemId): Promise<readonly { readonly dataset: string; readonly item: DataItem }[]>;
  newestFirst(
    scope: DatasetScope,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly DataItem[]>;
  oldestFirst(
    scope: DatasetScope,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<Page<DataItem>>;
  count(scope: DatasetScope): Promise<number>;
  insertWrites(items: readonly DataItem[]): readonly Write[];
  /** `VersionConflictError` in the commit when one of them is gone or was replaced since it was read: they are counted. */
  removeWrites(items: readonly Pick<DataItem, 'id' | 'sizeBytes' | 'revision'>[]): readonly Write[];
  /** `VersionConflictError` in the commit when `present` is gone or was replaced since it was read. */
  replaceWrites(present: DataItem, next: DataItem): readonly Write[];
}

/** An owner has each content once, so a page holds all that is found. */
const READ_SLICE = 500;

export function createDataItems(store: DocumentStore): DataItems {
  const collection = dataItemsCollection;
  return {
    async get(scope, id) {
      const stored = await store.get(scope, collection, id);
      return stored === null ? null : itemOf(stored);
    },
    async getMany(scope, ids) {
      return (await store.getMany(scope, collection, ids)).map(itemOf);
    },
    async findByContent(scope, owner, contentHash) {
      const { items } = await store.find(scope, collection, { where: { ownerId: owner, contentHash }, limit: 1 });
      return items[0] === undefined ? null : itemOf(items[0]);
    },
    async findByContents(scope, owner, contentHashes) {
      const found: DataItem[] = [];
      const distinct = [...new Set(contentHashes)];
      for (let start = 0; start < distinct.length; start += READ_SLICE) {
        const where = { ownerId: owner, contentHash: { in: distinct.slice(start, start + READ_SLICE) } };
        found.push(...(await store.find(scope, collection, { where, limit: READ_SLICE })).items.map(itemOf));
      }
      return found;
    },
    async locate(scope, id) {
      const { items } = await store.find({ tenant: scope.tenant }, collection, { where: { id }, limit: 1000 });
      return items.flatMap((stored) =>
        stored.dataset === null ? [] : [{ dataset: stored.dataset, item: itemOf(stored) }],
      );
    },
    async newestFirst(scope, page) {
      const sort = [{ field: 'createdAt' as const, descending: true }];
      return (await store.find(scope, collection, { sort, ...page })).items.map(itemOf);
    },
    async oldestFirst(scope, page) {
      const found = await store.find(scope, collection, { sort: [{ field: 'createdAt' }], ...page });
      return { items: found.items.map(itemOf), next: found.next };
    },
    count: (scope) => store.count(scope, collection, {}),
    insertWrites: (items) => items.map(({ id, ...document }) => insert(collection, id, document)),
    removeWrites: (items) =>
      items.flatMap((item) => [
        update(collection, item.id, { where: asRead(item), required: true }),
        remove(collection, item.id),
      ]),
    replaceWrites: (present, { id, ...next }) => [
      update(collection, id, { where: asRead(present), set: next, required: true }),
    ],
  };
}

/** Content of the same size may count for another API key. */
function asRead({ sizeBytes, revision }: Pick<DataItem, 'sizeBytes' | 'revision'>): Filter<DataItemDocument> {
  return { sizeBytes, revision: revision ? revision : { exists: false } };
}

function itemOf(stored: Stored<DataItemDocument>): DataItem {
  return { id: dataItemId(stored.id), ...stored.value, ownerId: stored.value.ownerId as UserId };
}
