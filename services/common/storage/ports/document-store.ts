import type { JsonObject } from '../../kernel/json.ts';
import type { Page } from '../../kernel/result-page.ts';
import type { AnyScope } from '../../kernel/scope.ts';

/** The part of a document store that writes: see `DocumentStore`. */
export interface DocumentWriter {
  /** Results stand in the order of the writes. */
  commit(scope: AnyScope, writes: readonly Write[]): Promise<readonly WriteResult[]>;
}

/**
 * Records as JSON documents in declared collections. Adapters: SQLite (`control.db`), memory, MongoDB.
 *
 * Guarantees of every adapter
 * - A document belongs to the tenant (and, in a `dataset` collection, to the dataset) of the scope it was inserted
 *   under; under another scope it does not exist, for any method. `SystemScope` reaches every tenant for reading and
 *   for writing documents that exist; to insert under it the collection must have level `system`.
 * - `commit` is all or nothing and durable when it resolves: it survives `kill -9`. It spans collections, so a state,
 *   its job and its event are written together. Writes of one commit see those before them.
 *   A `removeWhere` that is its commit's only write may remove great numbers in parts: when it fails, the rest is still
 *   there, and a repetition removes it.
 * - Versions start at 1 and grow by 1 with each change. There is no blind overwrite: a `replace` names the version it
 *   read, an `update` names a condition.
 * - `find` orders totally (the sort keys, then the id in the direction of the last key), pages by keyset: a document that
 *   is neither inserted nor changed during the paging is seen exactly once. Order of values: null, numbers, strings by code
 *   point, booleans; objects and lists are present but equal nothing. A cursor of another order → `InvalidRequestError`.
 * - A document of a `system` collection has no tenant: every scope reaches it, so that a job is written with the state
 *   that asks for it. An id that fits several documents of a wide scope → `ConflictError` (`getMany` gives all of them).
 * - Strings are kept as they are, NUL and lone surrogates included; a lone surrogate counts as U+FFFD when values are
 *   compared. Ids are 1 to 1024 characters of well-formed Unicode; another id cannot be inserted (`InvalidRequestError`).
 * - Errors: `DuplicateKeyError`, `VersionConflictError` (both leave nothing written), `ServiceUnavailableError`.
 */
export interface DocumentStore extends DocumentWriter {
  readonly capabilities: DocumentStoreCapabilities;
  /** Makes the collections and indexes that are missing. Call once per process, before anything else. Idempotent. */
  prepare(collections: readonly AnyCollection[]): Promise<void>;
  /** Unknown id → null. */
  get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string): Promise<Stored<T> | null>;
  /** One read for many ids; unknown ids are left out; the order is that of `ids`. */
  getMany<T extends JsonObject>(
    scope: AnyScope,
    collection: Collection<T>,
    ids: readonly string[],
  ): Promise<readonly Stored<T>[]>;
  find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>): Promise<Page<Stored<T>>>;
  count<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, where: Filter<T>): Promise<number>;
  /** Number of documents of the scope in each of the collections, in one read. */
  countEach(scope: AnyScope, collections: readonly AnyCollection[]): Promise<readonly number[]>;
  /**
   * How often documents of each of the collections were inserted or changed, of those that are there now: the sum of their
   * versions. Where none is ever removed, an equal number says that nothing has changed. One read, in the order of the collections.
   */
  countChanges(scope: AnyScope, collections: readonly AnyCollection[]): Promise<readonly number[]>;
  /**
   * All documents as they stand at one moment, which is not before the call and at the latest that of the first `find`, however
   * many pages are read while others write. To be closed by the caller, within a minute or two: stores keep the past for as
   * long as it is open, and no longer than they can (`ServiceUnavailableError`, retryable).
   */
  view(): Promise<DocumentView>;
  close(): Promise<void>;
}

export interface DocumentView {
  readonly find: DocumentStore['find'];
  close(): Promise<void>;
}

interface DocumentStoreCapabilities {
  readonly maxWritesPerCommit: number;
  /** Several processes may have the store open at the same time. */
  readonly sharedBetweenProcesses: boolean;
}

/** `T` is the document without its id; the id is its own field on `Stored`. */
export interface Collection<T extends JsonObject> {
  /** Lower-case words joined by `_`; the table or collection name. */
  readonly name: string;
  /**
   * `system`: not owned by a tenant (users, jobs). `tenant`: one tenant's. `dataset`: one dataset's; a scope without a
   * dataset reads, counts and deletes all datasets of its tenant, and cannot insert.
   */
  readonly level: 'system' | 'tenant' | 'dataset';
  /** Fields (top level, or dotted paths into objects) that queries filter or sort by. Unlisted fields cannot be used. */
  readonly indexes: readonly Index<T>[];
  /** The store gives each inserted document the next number in commit order, in `Stored.sequence`. Used by event logs. */
  readonly sequenced?: boolean;
  /** Type carrier; never set. */
  readonly document?: T;
}
// biome-ignore lint/suspicious/noExplicitAny: a list of collections of different documents has no narrower type
export type AnyCollection = Collection<any>;

interface Index<T> {
  readonly fields: readonly Field<T>[];
  /** No two documents of the same scope (the store, for `system` collections) share all values; null counts as absent. */
  readonly unique?: boolean;
  /** For queries of scopes wider than the collection's level (sweeps over all tenants); other indexes are no help to those. */
  readonly wide?: boolean;
}
export type Field<T> = (keyof T & string) | `${string}.${string}` | 'sequence';

export interface Stored<T> {
  readonly id: string;
  readonly version: number;
  readonly value: T;
  /** Set in sequenced collections only; grows in commit order, with gaps allowed. */
  readonly sequence?: number;
  readonly tenant: string | null;
  readonly dataset: string | null;
}

export type Scalar = string | number | boolean | null;
/** All conditions must hold. `exists: false` is true for null and for a missing field. */
export interface Condition {
  readonly equals?: Scalar;
  readonly in?: readonly Scalar[];
  readonly notEquals?: Scalar;
  readonly greaterThan?: string | number;
  readonly atLeast?: string | number;
  readonly lessThan?: string | number;
  readonly atMost?: string | number;
  /** Strings only, case-sensitive, no wildcards. */
  readonly prefix?: string;
  readonly exists?: boolean;
}
/** Field → value (equality) or condition. `id` is always allowed. An empty filter matches all of the scope. */
export type Filter<T> = { readonly [Key in Field<T> | 'id']?: Scalar | Condition };

export interface Query<T> {
  readonly where?: Filter<T>;
  readonly sort?: readonly { readonly field: Field<T> | 'id'; readonly descending?: boolean }[];
  /** 1 to 1000. */
  readonly limit: number;
  /** `next` of the page before, made with the same filter and sort. */
  readonly after?: string | null;
  /** Documents to pass over, for wire contracts with an offset. Costs time in proportion. */
  readonly offset?: number;
}

/** Build writes with `insert`, `replace`, `update`, `remove`, `removeWhere` below. */
export type Write =
  | { readonly kind: 'insert'; readonly collection: AnyCollection; readonly id: string; readonly value: JsonObject }
  | {
      readonly kind: 'replace';
      readonly collection: AnyCollection;
      readonly id: string;
      readonly value: JsonObject;
      /** Another version, or no document → `VersionConflictError`, nothing of the commit is written. */
      readonly expectedVersion: number;
    }
  | {
      readonly kind: 'update';
      readonly collection: AnyCollection;
      readonly id: string;
      /** Conditions on the document as it stands; any indexed or unindexed field. Compare-and-set. */
      readonly where: Filter<JsonObject>;
      /** Top-level fields to set; `undefined` leaves a field as it is. */
      readonly set: JsonObject;
      /** Top-level numeric fields to add to; a missing field counts as 0. */
      readonly increment?: Readonly<Record<string, number>>;
      /** When true a document that does not match fails the commit; otherwise its result is null and the rest goes on. */
      readonly required: boolean;
    }
  | {
      readonly kind: 'remove';
      readonly collection: AnyCollection;
      readonly id: string;
      readonly expectedVersion?: number;
    }
  | { readonly kind: 'removeWhere'; readonly collection: AnyCollection; readonly where: Filter<JsonObject> };

export interface WriteResult {
  /** The document after an insert, replace or matching update; null otherwise. */
  readonly stored: Stored<JsonObject> | null;
  /** Documents inserted, changed or removed. */
  readonly changed: number;
}

export function insert<T extends JsonObject>(collection: Collection<T>, id: string, value: T): Write {
  return { kind: 'insert', collection, id, value };
}
export function replace<T extends JsonObject>(
  collection: Collection<T>,
  id: string,
  value: T,
  expectedVersion: number,
): Write {
  return { kind: 'replace', collection, id, value, expectedVersion };
}
export function update<T extends JsonObject>(
  collection: Collection<T>,
  id: string,
  change: {
    readonly where?: Filter<T>;
    readonly set?: Partial<T>;
    readonly increment?: Readonly<Record<string, number>>;
    readonly required?: boolean;
  },
): Write {
  return {
    kind: 'update',
    collection,
    id,
    where: (change.where ?? {}) as Filter<JsonObject>,
    set: (change.set ?? {}) as JsonObject,
    ...(change.increment === undefined ? {} : { increment: change.increment }),
    required: change.required ?? false,
  };
}
export function remove<T extends JsonObject>(collection: Collection<T>, id: string, expectedVersion?: number): Write {
  return { kind: 'remove', collection, id, ...(expectedVersion === undefined ? {} : { expectedVersion }) };
}
export function removeWhere<T extends JsonObject>(collection: Collection<T>, where: Filter<T>): Write {
  return { kind: 'removeWhere', collection, where: where as Filter<JsonObject> };
}

/** A unique index or an id is taken. `index` names the fields, `['id']` for the id. */
export class DuplicateKeyError extends Error {
  override readonly name = 'DuplicateKeyError';
  readonly collection: string;
  readonly index: readonly string[];
  constructor(collection: string, index: readonly string[], options?: ErrorOptions) {
    super(`duplicate ${index.join('+')} in ${collection}`, options);
    this.collection = collection;
    this.index = index;
  }
}

/** The document changed, or a required update did not match, since it was read. */
export class VersionConflictError extends Error {
  override readonly name = 'VersionConflictError';
  readonly collection: string;
  readonly id: string;
  constructor(collection: string, id: string) {
    super(`${collection}/${id} is not as expected`);
    this.collection = collection;
    this.id = id;
  }
}
