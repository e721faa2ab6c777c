import type { DataItem } from '../../domain/data-item.ts';
import type { DataItemId, UserId } from '../../kernel/brand.ts';
import { dataItemId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Page } from '../../kernel/result-page.ts';
import type { DatasetScope, Scope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type Collection,
  type DocumentStore,
  type Filter,
  insert,
  remove,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';

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
  readonly sha256?: string;
  readonly revision?: string | null;
  readonly nodeSets: readonly string[];
  readonly externalMetadata: JsonObject;
  readonly importanceWeight: number;
  readonly keyId?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly addedAgainAt?: string;
  readonly isExpiring?: boolean;
  /**
   * Since when its present content waits to be built, ISO-8601; empty: it is built. Changes in the commit of what it tells of.
   * Absent: written by a release that did not note it, see `noteWaiting`.
   */
  readonly waitingSince?: string;
};

export const dataItemsCollection: Collection<DataItemDocument> = {
  name: 'data_items',
  level: 'dataset',
  indexes: [
    { fields: ['ownerId', 'contentHash'], unique: true },
    { fields: ['createdAt'] },
    { fields: ['waitingSince'] },
  ],
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
  /** Of all items, or of those named, how many wait to be built. */
  countWaiting(scope: DatasetScope, among?: readonly DataItemId[]): Promise<number>;
  /** Since when the one waits that does so longest; those named do not count. Null: none does. */
  longestWait(scope: DatasetScope, except: ReadonlySet<string>): Promise<string | null>;
  /** Items of which it was not noted whether they wait, at most 500. */
  unnoted(scope: DatasetScope): Promise<readonly DataItem[]>;
  /** Does nothing for one that was changed or removed meanwhile. */
  noteSha256Write(item: DataItem, sha256: string): Write;
  /** Does nothing for one that was noted, changed or removed meanwhile. */
  noteWrite(item: DataItem, isBuilt: boolean): Write;
  insertWrites(items: readonly DataItem[]): readonly Write[];
  /** `VersionConflictError` in the commit when one of them is gone or was replaced since it was read: they are counted. */
  removeWrites(items: readonly Pick<DataItem, 'id' | 'sizeBytes' | 'revision' | 'isExpiring'>[]): readonly Write[];
  /** `VersionConflictError` in the commit when `present` is gone or was replaced since it was read. */
  replaceWrites(present: DataItem, next: DataItem): readonly Write[];
  /** `VersionConflictError` in the commit when it is gone or being forgotten. */
  addedAgainWrite(item: DataItemId, at: string): Write;
  /**
   * It is not replaced from now on. `VersionConflictError` in the commit when it is gone, or was replaced or added again since
   * it was read.
   */
  expireWrite(item: DataItem): Write;
  /** It is neither replaced nor answered as kept from now on; one that is gone is no matter. */
  forgetWrite(item: DataItemId): Write;
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
      for (const slice of slices(distinct, READ_SLICE)) {
        const where = { ownerId: owner, contentHash: { in: slice } };
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
    async countWaiting(scope, among) {
      if (among === undefined) return store.count(scope, collection, { waitingSince: WAITING });
      let count = 0;
      for (const ids of slices(among, READ_SLICE)) {
        count += await store.count(scope, collection, { id: { in: ids }, waitingSince: WAITING });
      }
      return count;
    },
    longestWait: (scope, except) => longestWait(store, scope, except),
    async unnoted(scope) {
      const where = { waitingSince: { exists: false } };
      return (await store.find(scope, collection, { where, limit: READ_SLICE })).items.map(itemOf);
    },
    noteSha256Write: (item, sha256) =>
      update(collection, item.id, { where: { ...asRead(item), contentHash: item.contentHash }, set: { sha256 } }),
    noteWrite: (item, isBuilt) =>
      update(collection, item.id, {
        where: { ...asRead(item), contentHash: item.contentHash, waitingSince: { exists: false } },
        set: { waitingSince: isBuilt ? '' : sinceOf(item) },
      }),
    insertWrites: (items) =>
      items.map(({ id, ...document }) => insert(collection, id, { ...document, waitingSince: sinceOf(document) })),
    removeWrites: (items) =>
      items.flatMap((item) => [
        update(collection, item.id, { where: asRead(item), required: true }),
        remove(collection, item.id),
      ]),
    replaceWrites: (present, { id, ...next }) => [
      update(collection, id, {
        ...{ where: asRead(present), set: { ...next, waitingSince: sinceOf(next) }, required: true },
      }),
    ],
    addedAgainWrite: (item, at) =>
      update(collection, item, {
        ...{ where: { isExpiring: { exists: false } }, set: { addedAgainAt: at }, required: true },
      }),
    expireWrite: (item) =>
      update(collection, item.id, {
        where: { ...asRead(item), addedAgainAt: item.addedAgainAt ?? { exists: false } },
        ...{ set: { isExpiring: true }, required: true },
      }),
    forgetWrite: (item) => update(collection, item, { set: { isExpiring: true } }),
  };
}

const WAITING = { greaterThan: '' };

async function longestWait(
  store: DocumentStore,
  scope: DatasetScope,
  except: ReadonlySet<string>,
): Promise<string | null> {
  const query = { where: { waitingSince: WAITING }, sort: [{ field: 'waitingSince' as const }], limit: READ_SLICE };
  for (let after: string | null = null; ; ) {
    const page: Page<Stored<DataItemDocument>> = await store.find(scope, dataItemsCollection, { ...query, after });
    const found = page.items.find(({ id }) => !except.has(id));
    if (found !== undefined || page.next === null) return found?.value.waitingSince ?? null;
    after = page.next;
  }
}

/** For the commit that makes what was built of the item visible. Other content than that waits as before. */
export function builtWrite(item: DataItemId, version: string): Write {
  // As `contentVersion` puts them together.
  const end = version.indexOf(':');
  const [contentHash, revision] = end < 0 ? [version, undefined] : [version.slice(0, end), version.slice(end + 1)];
  const where = { contentHash, revision: revision ?? { exists: false } };
  return update(dataItemsCollection, item, { where, set: { waitingSince: '' } });
}

/** For the commit from which on nothing is built of the item. */
export function unbuiltWrite(item: DataItemId, since: string): Write {
  return update(dataItemsCollection, item, { set: { waitingSince: since } });
}

function sinceOf({ createdAt, updatedAt }: Pick<DataItem, 'createdAt' | 'updatedAt'>): string {
  return updatedAt ?? createdAt;
}

/** Content of the same size may count for another API key. */
function asRead({
  sizeBytes,
  revision,
  isExpiring,
}: Pick<DataItem, 'sizeBytes' | 'revision' | 'isExpiring'>): Filter<DataItemDocument> {
  return {
    ...{ sizeBytes, revision: revision ? revision : { exists: false } },
    isExpiring: isExpiring ? true : { exists: false },
  };
}

function itemOf(stored: Stored<DataItemDocument>): DataItem {
  const { waitingSince: _, ...value } = stored.value;
  return { id: dataItemId(stored.id), ...value, ownerId: value.ownerId as UserId };
}
