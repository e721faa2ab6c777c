import type { JsonObject } from '../../kernel/json.ts';
import type { Page } from '../../kernel/result-page.ts';
import type { AnyScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type Collection,
  type DocumentStore,
  type Filter,
  insert,
  type Query,
  remove,
  removeWhere,
  replace,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from './find-all.ts';

/** Replaces the document that was read before; inserts it when there was none, or when its version is 0 or null. */
export function put<T extends JsonObject>(
  collection: Collection<T>,
  id: string,
  value: T,
  before: { readonly version: number | null } | null | undefined,
): Write {
  return before?.version ? replace(collection, id, value, before.version) : insert(collection, id, value);
}

type Selection<T> = Pick<Query<T>, 'where' | 'sort'>;

/** Ids of one read. */
const READ_SLICE = 1000;
/** Values of one `in` condition. */
const IN_SLICE = 500;

/**
 * The documents of a collection as records. Reads take the scope that they read under; writes are committed by the caller,
 * and conflict as `DocumentStore` says.
 */
export function repository<T extends JsonObject, R>(
  store: DocumentStore,
  collection: Collection<T>,
  recordOf: (stored: Stored<T>) => R,
) {
  return {
    /** Null for an unknown id. */
    async get(scope: AnyScope, id: string): Promise<R | null> {
      const stored = await store.get(scope, collection, id);
      return stored === null ? null : recordOf(stored);
    },
    /** Unknown ids are left out; the order is that of `ids`. */
    async getMany(scope: AnyScope, ids: readonly string[]): Promise<readonly R[]> {
      const records: R[] = [];
      for (const slice of slices(ids, READ_SLICE)) {
        for (const stored of await store.getMany(scope, collection, slice)) records.push(recordOf(stored));
      }
      return records;
    },
    /** The first of the selection; null when it is empty. */
    async first(scope: AnyScope, selection: Selection<T>): Promise<R | null> {
      const { items } = await store.find(scope, collection, { ...selection, limit: 1 });
      return items[0] === undefined ? null : recordOf(items[0]);
    },
    async page(scope: AnyScope, query: Query<T>): Promise<Page<R>> {
      const { items, next } = await store.find(scope, collection, query);
      return { items: items.map(recordOf), next };
    },
    /** The first `count` of the selection, read page by page. */
    async firstOnes(scope: AnyScope, selection: Selection<T>, count: number): Promise<readonly R[]> {
      const records: R[] = [];
      let after: string | null = null;
      do {
        const limit = Math.min(READ_SLICE, count - records.length);
        const page: Page<Stored<T>> = await store.find(scope, collection, { ...selection, limit, after });
        for (const stored of page.items) records.push(recordOf(stored));
        after = page.next;
      } while (after !== null && records.length < count);
      return records;
    },
    /** Everything of the selection, read page by page. */
    async all(scope: AnyScope, selection: Selection<T> = {}): Promise<readonly R[]> {
      return (await findAll(store, scope, collection, selection)).map(recordOf);
    },
    /** The same of a selection that names some of the values, for all of them. */
    async allOf<Value>(
      scope: AnyScope,
      values: readonly Value[],
      selectionOf: (some: readonly Value[]) => Selection<T>,
    ): Promise<readonly R[]> {
      const records: R[] = [];
      for (const some of slices(values, IN_SLICE)) {
        for (const stored of await findAll(store, scope, collection, selectionOf(some))) records.push(recordOf(stored));
      }
      return records;
    },
    count: (scope: AnyScope, where: Filter<T> = {}): Promise<number> => store.count(scope, collection, where),
    async countOf<Value>(scope: AnyScope, values: readonly Value[], whereOf: (some: readonly Value[]) => Filter<T>) {
      let count = 0;
      for (const some of slices(values, IN_SLICE)) count += await store.count(scope, collection, whereOf(some));
      return count;
    },
    /** Removes what fits now. Returns how many. */
    async removeWhere(scope: AnyScope, where: Filter<T>): Promise<number> {
      const [result] = await store.commit(scope, [removeWhere(collection, where)]);
      return result?.changed ?? 0;
    },
    insertWrite: (id: string, value: T): Write => insert(collection, id, value),
    replaceWrite: (id: string, value: T, expectedVersion: number): Write =>
      replace(collection, id, value, expectedVersion),
    /** See `put`. */
    putWrite: (id: string, value: T, before: Parameters<typeof put>[3]): Write => put(collection, id, value, before),
    updateWrite: (id: string, change: Parameters<typeof update<T>>[2]): Write => update(collection, id, change),
    removeWrite: (id: string, expectedVersion?: number): Write => remove(collection, id, expectedVersion),
    removeWhereWrite: (where: Filter<T>): Write => removeWhere(collection, where),
  };
}

/** The mapping of a record that is its document with the version. */
export function withVersion<T extends JsonObject>({ value, version }: Stored<T>): T & { readonly version: number } {
  return { ...value, version };
}
