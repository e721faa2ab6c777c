import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { engramError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { createLargeCache, keptByText } from '../../../kernel/recently-used.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import type {
  AnyCollection,
  Collection,
  DocumentStore,
  Filter,
  Query,
  Stored,
  Write,
  WriteResult,
} from '../../ports/document-store.ts';
import { ambiguousId, MAX_WRITES_PER_COMMIT, requireCommitSize } from '../rules/change.ts';
import { rulesOf } from '../rules/collection-rules.ts';
import { type Reach, reachOf } from '../rules/reach.ts';
import { decodeResult, encodeWrite, storableId } from './encode-writes.ts';
import { joined, lookupTerms, reachTerms, term, whereTerm } from './filter-sql.ts';
import { openForReading } from './open-database.ts';
import { type FoundRows, findPage, findRows, selectColumns, toStored } from './page-query.ts';
import { storeError } from './sqlite-errors.ts';
import { createStatementCache, type SqlRow, type StatementCache } from './statement-cache.ts';
import { closedError, type StorageThread, startStorageThread } from './storage-thread.ts';
import { createLayouts, layoutOf as layoutOfRules, type TableLayout } from './table-layout.ts';
import { type CollectionRevisions, createUnchangedReads } from './unchanged-reads.ts';
import type { EncodedResult, EncodedWrite } from './write-protocol.ts';

interface SqliteDocumentStoreOptions {
  /** Path of `control.db`; its directory must exist. The caller holds the lock of the data directory. */
  readonly file: string;
  /** False: a file whose schema is behind this release is refused with the advice to run `npm run migrate`. */
  readonly autoMigrate: boolean;
  /** Prepared in the same step as the opening. Others may follow by `prepare`. */
  readonly collections?: readonly AnyCollection[];
  /** Shared with everybody who writes or reads the file; without it nothing that was read is kept. */
  readonly revisions?: CollectionRevisions;
}

/**
 * Documents in one SQLite file. Queries run on the calling thread (an indexed read takes microseconds), commits in a
 * storage worker of the store's own. Errors of opening say what is wrong with the file: `CorruptStoreError`,
 * `ServiceUnavailableError` (cannot be opened or written, disk full), `CogneeSystemError` (newer schema, migration due).
 */
export async function openSqliteDocumentStore(options: SqliteDocumentStoreOptions): Promise<DocumentStore> {
  const { file, autoMigrate, collections = [], revisions = null } = options;
  const rules = collections.map(rulesOf);
  const thread = await startStorageThread({ file, autoMigrate, revisions }, rules);
  const database = await openReader(file, thread);
  const layouts = createLayouts();
  const { reading, ...reads } = createReads({ database, file, revisions }, ({ name }) => layouts.of(name));
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

interface Connection {
  readonly database: DatabaseSync;
  readonly file: string;
  /** Null: what was read is not kept. */
  readonly revisions: CollectionRevisions | null;
  /** Default: each call decodes its documents, which are then the caller's own. */
  readonly decode?: typeof toStored;
}

/** Queries on one connection. The rows that they found are kept until their collection is written. */
export function createReads(
  { database, file, revisions, decode = toStored }: Connection,
  layoutOf: (collection: AnyCollection) => TableLayout,
) {
  const statements = createStatementCache(database);
  const known = createUnchangedReads(revisions, statements.charactersRead);
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
    const reach = reachOf(scope, layout.rules);
    const { sql, parameters } = whereTerm(layout, reach, where);
    const text = `SELECT count(*) FROM ${layout.table} WHERE ${sql}`;
    const count = () => statements.get(text, parameters)?.[0] as number;
    return reading(() => known.of(collection.name, JSON.stringify(['count', reach, where]), count));
  };
  return {
    reading,
    async get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string) {
      const layout = layoutOf(collection);
      const reach = reachOf(scope, layout.rules);
      const read = () => rowsOfId(statements, layout, reach, id);
      const found = reading(() => known.of(collection.name, idKeys(reach)(id), read));
      if (found.length > 1) throw ambiguousId(layout.rules.name, id);
      return found[0] === undefined ? null : decode<T>(layout, found[0]);
    },
    async getMany<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, ids: readonly string[]) {
      const layout = layoutOf(collection);
      const reach = reachOf(scope, layout.rules);
      const read = (missing: readonly string[]) => {
        const found = rowsOfIds(statements, layout, reach, missing);
        return (id: string) => found.get(id) ?? [];
      };
      const found = reading(() => known.ofEach(collection.name, [...new Set(ids)], idKeys(reach), read));
      return found.flatMap((rows) => rows.map((row) => decode<T>(layout, row)));
    },
    async find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
      const layout = layoutOf(collection);
      const reach = reachOf(scope, layout.rules);
      const empty = JSON.stringify(['empty', reach]);
      const { rows, next } = reading((): FoundRows => {
        if (known.get<boolean>(collection.name, empty) === true) return NO_ROWS;
        const read = () => findRows(statements, layout, reach, query);
        const found = known.of(collection.name, JSON.stringify(['find', reach, query]), read);
        // In a scope without documents other filters find nothing either.
        if (found.rows.length === 0) known.of(collection.name, empty, () => isEmpty(statements, layout, reach));
        return found;
      });
      return { items: rows.map((row) => decode<T>(layout, row)), next };
    },
    count: async (scope, collection, where) => countOf(scope, collection, where),
    countEach: async (scope, collections) => collections.map((collection) => countOf(scope, collection, {})),
    countChanges: async (scope, collections) =>
      collections.map((collection) => {
        const layout = layoutOf(collection);
        const reach = reachOf(scope, layout.rules);
        const { sql, parameters } = whereTerm(layout, reach, {});
        const text = `SELECT coalesce(sum(version), 0) FROM ${layout.table} WHERE ${sql}`;
        const read = () => statements.get(text, parameters)?.[0] as number;
        return reading(() => known.of(collection.name, JSON.stringify(['changes', reach]), read));
      }),
  } satisfies Partial<DocumentStore> & { reading: unknown };
}

const NO_ROWS: FoundRows = { rows: [], next: null };

/** Reaches, and ids within each, whose keys are kept. */
const KEPT_REACHES = 16;
const KEPT_KEYS = 2000;
const keysOfReaches = createLargeCache<string, (id: string) => string>(KEPT_REACHES);

/** Keys of what ids have within a reach: kept, as a joined text is hashed anew, and a search reads the same ids again. */
function idKeys(reach: Reach): (id: string) => string {
  const prefix = JSON.stringify(['id', reach]);
  const known = keysOfReaches.get(prefix);
  if (known !== undefined) return known;
  const made = keptByText(KEPT_KEYS, (id) => prefix + id);
  keysOfReaches.set(prefix, made);
  return made;
}

/**
 * The queries of a store that another thread of this process has open: they see every commit that was acknowledged before.
 * It refuses what is no query. Callers share the documents: they must not change them.
 */
export function openSqliteDocumentReader(file: string, revisions: CollectionRevisions | null = null): DocumentStore {
  const database = openForReading(file);
  const layouts = new Map<string, TableLayout>();
  const layoutOf = (collection: AnyCollection) => {
    const known = layouts.get(collection.name) ?? layoutOfRules(rulesOf(collection));
    layouts.set(collection.name, known);
    return known;
  };
  const { reading: _, ...reads } = createReads({ database, file, revisions, decode: decodeOnce() }, layoutOf);
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

/** Decodes each row once. */
function decodeOnce(): typeof toStored {
  const decoded = new WeakMap<SqlRow, Stored<JsonObject>>();
  return <T>(layout: TableLayout, row: SqlRow) => {
    const known = decoded.get(row) ?? toStored<JsonObject>(layout, row);
    decoded.set(row, known);
    return known as Stored<unknown> as Stored<T>;
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

function isEmpty(statements: StatementCache, layout: TableLayout, reach: Reach): boolean {
  const { sql, parameters } = joined(reachTerms(reach));
  return statements.get(`SELECT 1 FROM ${layout.table} WHERE ${sql} LIMIT 1`, parameters) === undefined;
}

/** Returns the rows of an id: several in a wide scope. */
function rowsOfId(statements: StatementCache, layout: TableLayout, reach: Reach, id: string): readonly SqlRow[] {
  const where = joined([term('"id" = ?', storableId(id)), ...lookupTerms(layout, reach)]);
  return statements.all(`SELECT ${selectColumns(layout)} FROM ${layout.table} WHERE ${where.sql}`, where.parameters);
}

function rowsOfIds(statements: StatementCache, layout: TableLayout, reach: Reach, ids: readonly string[]) {
  const list = term('"id" IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
  const where = joined([list, ...lookupTerms(layout, reach)]);
  const sql = `SELECT ${selectColumns(layout)} FROM ${layout.table} WHERE ${where.sql}`;
  return Map.groupBy(statements.all(sql, where.parameters), ([id]) => id as string);
}

/** Writes after which a large commit lets others have the thread: about 2 ms of work. */
const SLICE_WRITES = 200;
/** The same bound for few but long documents. */
const SLICE_CHARACTERS = 500_000;

/**
 * Commits through the storage worker. A small commit is one message; a large one is encoded and sent in slices,
 * so that requests are served in between. It is one transaction all the same.
 */
async function commitWrites(
  thread: StorageThread,
  writes: readonly Write[],
  encode: (write: Write) => EncodedWrite,
): Promise<readonly WriteResult[]> {
  const encoded: EncodedWrite[] = [];
  const decodeAll = (results: readonly EncodedResult[]) =>
    encoded.map((write, index) => decodeResult(write, results[index] ?? 0));
  const slices = sliced(writes, (write) => {
    const each = encode(write);
    encoded.push(each);
    return 'body' in each ? each.body.length : 0;
  });
  const first = slices.next();
  if (first.done || encoded.length === writes.length) {
    return decodeAll(await thread.commit(encoded));
  }
  const large = thread.beginLarge();
  let sent = 0;
  try {
    for (let slice: IteratorResult<void> = first; !slice.done; slice = slices.next()) {
      large.add(encoded.slice(sent));
      sent = encoded.length;
      await setImmediate();
    }
  } catch (error) {
    large.abandon();
    throw error;
  }
  return decodeAll(await large.commit());
}

/** Works through a list and stops after each slice; `work` answers how many characters it handled. */
function* sliced<T>(list: readonly T[], work: (item: T) => number): Generator<void, void> {
  let count = 0;
  let characters = 0;
  for (const item of list) {
    characters += work(item);
    count += 1;
    if (count < SLICE_WRITES && characters < SLICE_CHARACTERS) continue;
    yield;
    count = 0;
    characters = 0;
  }
  if (count > 0) yield;
}
