import type { DataItemId } from '../../kernel/brand.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import { dataItemId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

export type FeedName = { readonly connectionId: string; readonly resource: string; readonly feed: string };

/** Keys from the first, up to the second without it, in the order of their characters. */
export type KeyRange = { readonly from: string; readonly to: string };

/** A document of a source, and the item that was made of it. Documents with the same bytes share an item. */
export interface SourceItem extends FeedName {
  readonly id: string;
  /** Name of the document in its feed. */
  readonly key: string;
  readonly itemId: DataItemId;
  /** Null: it is not stored yet, or has to be stored again. */
  readonly version: string | null;
  /** The version of a document that is stored again for its name alone. */
  readonly renamedVersion?: string | null;
  readonly fileName: string | null;
  /** Why there is no item of it. */
  readonly skipped: string | null;
}

type SourceItemDocument = Omit<SourceItem, 'id' | 'itemId'> & { readonly itemId: string };

export const sourceItemsCollection: OwnedCollection<SourceItemDocument> = {
  name: 'source_items',
  level: 'dataset',
  owner: 'integrations',
  writers: { ingest: 'removes them with their dataset' },
  belongsTo: { dataset: 'scope' },
  indexes: [
    { fields: ['connectionId', 'resource', 'feed', 'key'] },
    { fields: ['connectionId', 'skipped'] },
    { fields: ['itemId'] },
  ],
};

type CursorDocument = FeedName & { readonly cursor: Json };

/** How far each feed was read: changes in the commit that notes its items. */
export const sourceCursorsCollection: OwnedCollection<CursorDocument> = {
  name: 'source_cursors',
  level: 'dataset',
  owner: 'integrations',
  writers: { ingest: 'removes them with their dataset' },
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['connectionId'] }],
};

export type SourceItems = ReturnType<typeof createSourceItems>;

export function createSourceItems(store: DocumentStore) {
  const records = repository(store, sourceItemsCollection, itemOf);
  const cursors = repository(store, sourceCursorsCollection, (stored) => stored);
  return {
    getMany: (scope: DatasetScope, ids: readonly string[]) => records.getMany(scope, ids),
    /** Documents that an item was made of, at most `limit`: many may have the same bytes. */
    ofItem: async (scope: DatasetScope, item: DataItemId, limit: number) =>
      (await records.page(scope, { where: { itemId: item }, limit })).items,
    /** A page of a connection's documents, or of one of its feeds. */
    page(
      scope: DatasetScope,
      where: Pick<FeedName, 'connectionId'> & Partial<FeedName>,
      { keys, ...page }: { readonly limit: number; readonly after?: string | null; readonly keys?: KeyRange },
    ) {
      const between = keys === undefined ? {} : { key: { atLeast: keys.from, lessThan: keys.to } };
      return records.page(scope, { where: { ...where, ...between }, ...page });
    },
    countStored: (scope: DatasetScope, connectionId: string) =>
      records.count(scope, { connectionId, skipped: { exists: false } }),
    insertWrite: ({ id, ...item }: SourceItem) => records.insertWrite(id, item),
    changeWrite: (
      id: string,
      set: Partial<Pick<SourceItem, 'itemId' | 'version' | 'renamedVersion' | 'fileName' | 'skipped'>>,
    ): Write => records.updateWrite(id, { set }),
    removeWrite: (id: string) => records.removeWrite(id),
    /** The feeds of a connection that were read. */
    async feeds(scope: DatasetScope, connectionId: string): Promise<readonly FeedName[]> {
      return (await cursors.all(scope, { where: { connectionId } })).map(({ value }) => value);
    },
    async cursor(scope: DatasetScope, feed: FeedName) {
      const stored = await cursors.get(scope, feedId(feed));
      return { cursor: stored?.value.cursor ?? null, version: stored?.version ?? null };
    },
    cursorWrite(feed: FeedName, cursor: Json, version: number | null): Write {
      const { connectionId, resource, feed: name } = feed;
      const document = { connectionId, resource, feed: name, cursor };
      return cursors.putWrite(feedId(feed), document, version === null ? null : { version });
    },
    removeCursorWrite: (feed: FeedName) => cursors.removeWrite(feedId(feed)),
  };
}

export function sourceItemId({ connectionId, resource, feed, key }: FeedName & { readonly key: string }): string {
  return sha256OfJson([connectionId, resource, feed, key]);
}

function feedId({ connectionId, resource, feed }: FeedName): string {
  return sha256OfJson([connectionId, resource, feed]);
}

function itemOf({ id, value }: Stored<SourceItemDocument>): SourceItem {
  return { ...value, id, itemId: dataItemId(value.itemId) };
}
