import type { DatabaseSync } from 'node:sqlite';
import { engramError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import type { AnyCollection, Collection, DocumentStore, Filter, Query, Stored } from '../../ports/document-store.ts';
import { ambiguousId, MAX_WRITES_PER_COMMIT, requireCommitSize } from '../rules/change.ts';
import { rulesOf } from '../rules/collection-rules.ts';
import { reachOf } from '../rules/reach.ts';
import { commitWrites } from './commit-writes.ts';
import { encodeWrite, storableId } from './encode-writes.ts';
import { joined, lookupTerms, term, whereTerm } from './filter-sql.ts';
import { openForReading } from './open-database.ts';
import { findPage, selectColumns, toStored } from './page-query.ts';
import { storeError } from './sqlite-errors.ts';
import { createStatementCache, type StatementCache } from './statement-cache.ts';
import { closedError } from './storage-channel.ts';
import { type StorageThread, startStorageThread } from './storage-thread.ts';
import { createLayouts, layoutOf as layoutOfRules, type TableLayout } from './table-layout.ts';

interface SqliteDocumentStoreOptions {
  /** Path of `control.db`; its directory must exist. The caller holds the lock of the data directory. */
  readonly file: string;
  /** False: a file whose schema is behind this release is refused with the advice to run `npm run migrate`. */
  readonly autoMigrate: boolean;
  /** Prepared in the same step as the opening. Others may follow by `prepare`. */
  readonly collections?: readonly AnyCollection[];
}

/**
 * Documents in one SQLite file. Queries run on the calling thread (an indexed read takes microseconds), commits in a
 * storage worker of the store's own. Errors of opening say what is wrong with the file: `CorruptStoreError`,
 * `ServiceUnavailableError` (cannot be opened or written, disk full), `CogneeSystemError` (newer schema, migration due).
 */
export async function openSqliteDocumentStore(options: SqliteDocumentStoreOptions): Promise<DocumentStore> {
  const { file, autoMigrate, collections = [] } = options;
  const rules = collections.map(rulesOf);
  const thread = await startStorageThread({ file, autoMigrate }, rules);
  const database = await openReader(file, thread);
  const layouts = createLayouts();
  const { reading, ...reads } = createReads(database, file, ({ name }) => layouts.of(name));
  const views = new Set<DatabaseSync>();
  for (const each of rules) layouts.declare(each);
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: false },
    async prepare(collections) {
      const rules = collections.map(rulesOf);
      await thread.prepare(rules);
      for (const each of rules) layouts.declare(each);
    },
    ...reads,
    async commit(scope, writes) {
      requireCommitSize(writes);
      if (writes.length === 0) return [];
      return commitWrites(thread, writes, (write) => encodeWrite(layouts.of(write.collection.name), scope, write));
    },
    async view() {
      const past = reading(() => openView(file));
      views.add(past);
      const ofPast = createStatementCache(past);
      return {
        async find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
          const layout = layouts.of(collection.name);
          return reading(() => findPage(ofPast, layout, reachOf(scope, layout.rules), query));
        },
        async close() {
          if (views.delete(past)) past.close();
        },
      };
    },
    async close() {
      await thread.idle();
      for (const past of views) past.close();
      views.clear();
      if (database.isOpen) database.close(); // before the writer, which as the last one removes the log
      await thread.close();
    },
  };
}

/** Queries on one connection. */
function createReads(database: DatabaseSync, file: string, layoutOf: (collection: AnyCollection) => TableLayout) {
  const statements = createStatementCache(database);
  const reading = <T>(read: () => T): T => {
    if (!database.isOpen) throw closedError(file);
    try {
      return read();
    } catch (error) {
      throw storeError(error, file) ?? error;
    }
  };
  const countOf = (scope: AnyScope, collection: AnyCollection, where: Filter<JsonObject>): number => {
    const layout = layoutOf(collection);
    const { sql, parameters } = whereTerm(layout, reachOf(scope, layout.rules), where);
    const text = `SELECT count(*) FROM ${layout.table} WHERE ${sql}`;
    return reading(() => statements.get(text, parameters)?.[0] as number);
  };
  return {
    reading,
    async get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string) {
      const layout = layoutOf(collection);
      return reading(() => getOne<T>(statements, layout, scope, id));
    },
    async getMany<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, ids: readonly string[]) {
      const layout = layoutOf(collection);
      return reading(() => getMany<T>(statements, layout, scope, ids));
    },
    async find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
      const layout = layoutOf(collection);
      return reading(() => findPage(statements, layout, reachOf(scope, layout.rules), query));
    },
    count: async (scope, collection, where) => countOf(scope, collection, where),
    countEach: async (scope, collections) => collections.map((collection) => countOf(scope, collection, {})),
  } satisfies Partial<DocumentStore> & { reading: unknown };
}

/**
 * The queries of a store that another thread of this process has open: they see every commit that was acknowledged before.
 * It refuses what is no query.
 */
export function openSqliteDocumentReader(file: string): DocumentStore {
  const database = openForReading(file);
  const layouts = new Map<string, TableLayout>();
  const layoutOf = (collection: AnyCollection) => {
    const known = layouts.get(collection.name) ?? layoutOfRules(rulesOf(collection));
    layouts.set(collection.name, known);
    return known;
  };
  const { reading: _, ...reads } = createReads(database, file, layoutOf);
  const refuse = async () => {
    throw engramError('CogneeSystemError', 'This connection to the records only reads');
  };
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: false },
    ...reads,
    prepare: refuse,
    commit: refuse,
    view: refuse,
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** A connection in a transaction of its own: it reads what was there when that began. */
function openView(file: string): DatabaseSync {
  const past = openForReading(file);
  try {
    // Begins with the first read.
    past.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    return past;
  } catch (error) {
    past.close();
    throw error;
  }
}

async function openReader(file: string, thread: StorageThread): Promise<DatabaseSync> {
  try {
    return openForReading(file);
  } catch (error) {
    await thread.close();
    throw error;
  }
}

function getOne<T extends JsonObject>(
  statements: StatementCache,
  layout: TableLayout,
  scope: AnyScope,
  id: string,
): Stored<T> | null {
  const where = joined([term('"id" = ?', storableId(id)), ...lookupTerms(layout, reachOf(scope, layout.rules))]);
  const sql = `SELECT ${selectColumns(layout)} FROM ${layout.table} WHERE ${where.sql} LIMIT 2`;
  const rows = statements.all(sql, where.parameters);
  if (rows.length > 1) throw ambiguousId(layout.rules.name, id);
  const [row] = rows;
  return row === undefined ? null : toStored<T>(layout, row);
}

function getMany<T extends JsonObject>(
  statements: StatementCache,
  layout: TableLayout,
  scope: AnyScope,
  ids: readonly string[],
): readonly Stored<T>[] {
  const wanted = [...new Set(ids)];
  const list = term('"id" IN (SELECT value FROM json_each(?))', JSON.stringify(wanted));
  const where = joined([list, ...lookupTerms(layout, reachOf(scope, layout.rules))]);
  const sql = `SELECT ${selectColumns(layout)} FROM ${layout.table} WHERE ${where.sql}`;
  const found = Map.groupBy(statements.all(sql, where.parameters), ([id]) => id as string);
  return wanted.flatMap((id) => (found.get(id) ?? []).map((row) => toStored<T>(layout, row)));
}
