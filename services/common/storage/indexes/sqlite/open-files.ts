import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { isEngramError } from '../../../kernel/errors.ts';
import { createRecentReads, type RecentReads } from '../../../kernel/recent-reads.ts';
import { migrate } from '../../documents/sqlite/migrations.ts';
import { openForReading, openForWriting } from '../../documents/sqlite/open-database.ts';
import { storeError } from '../../documents/sqlite/sqlite-errors.ts';
import { createStatementCache, type StatementCache } from '../../documents/sqlite/statement-cache.ts';
import { holding, type OpeningLock } from './opening-lock.ts';
import { DATASET_MIGRATIONS, type FoundEdge, type FoundRow, type StoredOrigin } from './schema.ts';

/** An open dataset file. Rows come as arrays. */
export interface OpenFile extends StatementCache {
  readonly path: string;
  /** Node ids by number, as far as they were read: numbers are never reused, so an entry stays true. */
  readonly nodeIds: Map<number, string>;
  /** Origins by number, likewise. */
  readonly origins: Map<number, StoredOrigin>;
  /**
   * Cache of the state that was read last; cleared when another connection has written since. By kind, then by term: a key of
   * both would be built and hashed for each of the hundred terms of a search.
   */
  recentPostings(kind: number): RecentReads<ReadonlyMap<number, Uint32Array>>;
  /** By kind and bucket. */
  readonly recentSlots: RecentReads<Uint32Array, number>;
  /** By the manner of reading, then by node: a key of both would be built and hashed for each look-up. */
  recentEdges(manner: string): RecentReads<readonly FoundEdge[], number>;
  /** Numbers of the nodes of a small graph by id, as far as they were read: up to `last`. */
  readonly smallGraph: { readonly numbers: Map<string, number>; last: number; isCurrent: boolean };
  /** Numbers of nodes by id; null for an unknown id. */
  readonly recentNodes: RecentReads<number | null>;
  /** Rows of an id or a number: many questions come to the same well-known entities and passages. */
  recentRows(manner: string): RecentReads<readonly FoundRow[], string | number>;
  forgetReads(): void;
  /** To be called at the start of a snapshot. */
  forgetIfChanged(): void;
  /** Shared by the files of the thread. */
  readonly task: ReadingTask;
  exec(sql: string): void;
  /** For loops over many rows: about 1 µs less a call than `run`. Keep it no longer than the transaction. */
  writer(sql: string): (...parameters: SQLInputValue[]) => void;
  /** Each row as it is read. The array is the callee's; answering false ends the reading. */
  each(sql: string, parameters: readonly number[], visit: (row: readonly never[]) => boolean): void;
}

const NEWEST_VERSION = DATASET_MIGRATIONS.at(-1)?.version ?? 0;
/** Files that keep their page cache; the others give it back, so that many open files cost little. */
const WARM_FILES = 4;
/** Cache of each open file: postings of some dozens of words, and row lengths, of 200,000 rows. */
const POSTING_BYTES = 8 * 1024 * 1024;
const SLOT_BYTES = 4 * 1024 * 1024;
/** The edges of some thousand nodes, for each manner of reading them. */
const EDGE_BYTES = 4 * 1024 * 1024;
const NODE_BYTES = 2 * 1024 * 1024;
/** Some thousand rows, for each manner of reading them. */
const ROW_BYTES = 4 * 1024 * 1024;

/** A file that is dropped and created repeatedly may be lost in each attempt; a damaged one is reported after the last. */
const READ_ATTEMPTS = 5;

/** The files that keep their first snapshot until the running tasks have ended. */
interface ReadingTask {
  running: number;
  readonly held: Set<OpenFile>;
}

/** Open files of one thread, closed by least recent use. */
export interface OpenFiles {
  /** Runs work that reads many times: each file in one snapshot, and looked for once. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Null when a reader asks for a file that does not exist. */
  open(path: string): OpenFile | null;
  /**
   * Runs `work` on the file; null when it does not exist. The storage worker may remove a file, and make another of its
   * name, under a reader: what fails then is run again, on a fresh connection.
   */
  read<Result>(path: string, work: (file: OpenFile) => Result): Result | null;
  forget(path: string): void;
  closeAll(): void;
}

interface OpenFilesOptions {
  readonly limit: number;
  readonly mode: 'read' | 'write';
  readonly autoMigrate: boolean;
  readonly openingLock: OpeningLock;
  /** Called before a file is opened again, because a read failed or the file was replaced. */
  readonly onLost?: (path: string) => void;
  /** Called when the file at the path was replaced or removed: its content is unknown. */
  readonly onChanged?: (path: string) => void;
}

interface Entry {
  readonly database: DatabaseSync;
  readonly file: OpenFile;
  readonly place: Stats | null;
}

export function createOpenFiles(options: OpenFilesOptions): OpenFiles {
  const entries = new Map<string, Entry>();
  const task: ReadingTask = { running: 0, held: new Set() };
  const forget = (path: string) => {
    const known = entries.get(path);
    if (known === undefined) return;
    task.held.delete(known.file);
    known.database.close();
    entries.delete(path);
  };
  const coolDown = () => {
    const cooled = [...entries.values()].at(-1 - WARM_FILES);
    cooled?.file.exec('PRAGMA shrink_memory');
    cooled?.file.nodeIds.clear();
    cooled?.file.origins.clear();
    cooled?.file.smallGraph.numbers.clear();
    if (cooled !== undefined) cooled.file.smallGraph.last = 0;
    cooled?.file.forgetReads();
  };
  let latest = '';
  const identities = new Map<string, string | null>();
  const noteIdentity = (path: string, identity: string | null) => {
    if (identities.has(path) && identities.get(path) === identity) return;
    identities.set(path, identity);
    options.onChanged?.(path);
  };
  const readOnce = <Result>(path: string, work: (file: OpenFile) => Result): Result | null => {
    const file = open(path);
    return file === null ? null : work(file);
  };
  /** Closes a file that was removed, replaced or emptied under the connection: writes to it would be lost. */
  const openedStill = (path: string): Entry | undefined => {
    const known = entries.get(path);
    if (known === undefined || task.held.has(known.file) || isInPlace(path, known.place)) return known;
    options.onLost?.(path);
    forget(path);
    return undefined;
  };
  const open = (path: string): OpenFile | null => {
    const known = openedStill(path);
    if (known && path === latest) return known.file;
    if (known) {
      entries.delete(path);
      entries.set(path, known);
      latest = path;
      coolDown();
      return known.file;
    }
    const opened = holding(options.openingLock, () =>
      options.mode === 'read' && isEmpty(path) ? null : openDatasetFile(path, options, task),
    );
    noteIdentity(path, opened === null ? null : identityOf(opened.database));
    if (opened === null) return null;
    for (const oldest of entries.keys()) {
      if (entries.size < options.limit) break;
      forget(oldest);
    }
    entries.set(path, opened);
    latest = path;
    coolDown();
    return opened.file;
  };
  return {
    async during(work) {
      task.running += 1;
      try {
        return await work();
      } finally {
        task.running -= 1;
        if (task.running === 0) {
          for (const file of task.held) rollBack(file);
          task.held.clear();
        }
      }
    },
    forget(path) {
      forget(path);
      identities.delete(path);
    },
    open,
    read(path, work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return readOnce(path, work);
        } catch (error) {
          if (attempt === READ_ATTEMPTS || (storeError(error, path) === null && !isEngramError(error))) throw error;
          options.onLost?.(path);
          forget(path);
        }
      }
    },
    closeAll() {
      for (const path of [...entries.keys()]) forget(path);
    },
  };
}

/** Removes a dataset's file; nothing may have it open for writing. */
export function removeDatasetFile(path: string, lock: OpeningLock): void {
  holding(lock, () => removeFiles(path));
}

function removeFiles(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function openDatasetFile(path: string, { mode, autoMigrate }: OpenFilesOptions, task: ReadingTask): Entry | null {
  if (mode === 'write') return openForWork(path, openWritable(path, autoMigrate), task);
  const database = openForReading(path);
  const version = storedVersion(database, path);
  if (version === null || !autoMigrate || version >= NEWEST_VERSION) {
    return version === null ? closed(database) : openForWork(path, database, task);
  }
  database.close();
  // The one write that is not the storage worker's: nothing can be read before it is done.
  openWritable(path, true).close();
  return openForWork(path, openForReading(path), task);
}

/** Makes the file when it is not there. */
function openWritable(path: string, autoMigrate: boolean): DatabaseSync {
  makeDirectory(path);
  // Connections of other threads may still hold a file that was emptied: SQLite could not set it up again under them.
  if (isEmpty(path)) removeFiles(path);
  const database = openForWriting(path);
  // 64 MB: pages that many commits of an import touch are copied into the file once, not for each commit. Against 16 MB the disk
  // has a third less to write where a file has 50,000 chunks.
  database.exec('PRAGMA wal_autocheckpoint = 16000');
  try {
    checkLayout(database, path, autoMigrate);
    giveIdentity(database);
    return database;
  } catch (error) {
    // Another thread of this process may have done the same migration meanwhile.
    if (storedVersion(database, path) === NEWEST_VERSION) return database;
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function openForWork(path: string, database: DatabaseSync, task: ReadingTask): Entry {
  try {
    checkLayout(database, path, false);
    return { database, file: asOpenFile(database, path, task), place: placeOf(path) };
  } catch (error) {
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function checkLayout(database: DatabaseSync, path: string, autoMigrate: boolean): void {
  migrate(database, { file: path, autoMigrate, migrations: DATASET_MIGRATIONS });
}

/** Null for a file that the writer is about to set up; 0 for a foreign file, which `migrate` then refuses. */
function storedVersion(database: DatabaseSync, path: string): number | null {
  try {
    const tables = database.prepare('SELECT name FROM sqlite_schema').all();
    if (tables.length === 0) return null;
    if (!tables.some(({ name }) => name === 'meta')) return 0;
    return Number(database.prepare(`SELECT value FROM meta WHERE key = 'schema_version'`).get()?.['value'] ?? 0);
  } catch (error) {
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function placeOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Or not there. */
function isEmpty(path: string): boolean {
  return (placeOf(path)?.size ?? 0) === 0;
}

function isInPlace(path: string, before: Stats | null): boolean {
  const now = placeOf(path);
  return now !== null && now.size > 0 && now.ino === before?.ino && now.dev === before.dev;
}

/** Given to a file when it is made; empty: an earlier release made it, and nothing was written since. */
function identityOf(database: DatabaseSync): string {
  return String(database.prepare(`SELECT value FROM meta WHERE key = 'identity'`).get()?.['value'] ?? '');
}

/** Identity of a file, to distinguish it from a later one at the same path. */
function giveIdentity(database: DatabaseSync): void {
  if (identityOf(database) !== '') return;
  database.prepare(`INSERT OR IGNORE INTO meta (key, value) VALUES ('identity', ?)`).run(randomUUID());
}

function closed(database: DatabaseSync): null {
  database.close();
  return null;
}

function makeDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
}

function asOpenFile(database: DatabaseSync, path: string, task: ReadingTask): OpenFile {
  const statements = createStatementCache(database);
  const recentPostings = createReadsByManner<ReadonlyMap<number, Uint32Array>, string, number>(POSTING_BYTES);
  const recentSlots = createRecentReads<Uint32Array, number>(SLOT_BYTES);
  const recentEdges = createReadsByManner<readonly FoundEdge[], number>(EDGE_BYTES);
  const recentNodes = createRecentReads<number | null>(NODE_BYTES);
  const recentRows = createReadsByManner<readonly FoundRow[], string | number>(ROW_BYTES);
  const smallGraph = { numbers: new Map<string, number>(), last: 0, isCurrent: false };
  const forgetReads = () => {
    smallGraph.isCurrent = false;
    for (const recent of [recentPostings, recentSlots, recentEdges, recentNodes, recentRows]) recent.clear();
  };
  let version: unknown;
  return {
    path,
    task,
    nodeIds: new Map(),
    origins: new Map(),
    recentPostings: recentPostings.of,
    recentSlots,
    recentEdges: recentEdges.of,
    smallGraph,
    recentNodes,
    recentRows: recentRows.of,
    forgetReads,
    ...statements,
    forgetIfChanged() {
      // Counts commits of other connections only: the writing connection must not cache.
      const current = statements.get('PRAGMA data_version', [])?.[0];
      if (current !== version) forgetReads();
      version = current;
    },
    exec: (sql) => database.exec(sql),
    writer(sql) {
      const statement = database.prepare(sql);
      return (...parameters) => void statement.run(...parameters);
    },
    each(sql, parameters, visit) {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      for (const row of statement.iterate(...parameters)) {
        if (!visit(row as unknown as readonly never[])) break;
      }
    },
  };
}

/** Caches by the manner of reading. */
function createReadsByManner<Value, Key, Manner = string>(maxBytes: number) {
  const manners = new Map<Manner, RecentReads<Value, Key>>();
  return {
    of(manner: Manner): RecentReads<Value, Key> {
      const known = manners.get(manner);
      if (known !== undefined) return known;
      const made = createRecentReads<Value, Key>(maxBytes);
      manners.set(manner, made);
      return made;
    },
    clear: () => manners.clear(),
  };
}

/** Runs `work` in a write transaction: all of it or nothing. */
export function writing<Result>(file: OpenFile, work: () => Result): Result {
  file.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    file.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(file);
    throw error;
  }
}

/** Runs `work` on one snapshot: that of the running task, if there is one. */
export function reading<Result>(file: OpenFile, work: () => Result): Result {
  const { held, running } = file.task;
  if (held.has(file)) return work();
  file.exec('BEGIN');
  if (running > 0) {
    held.add(file);
    file.forgetIfChanged();
    return work();
  }
  try {
    file.forgetIfChanged();
    return work();
  } finally {
    rollBack(file);
  }
}

/** SQLite rolls back automatically after a full disk or a damaged page; a second rollback is no error here. */
function rollBack(file: OpenFile): void {
  try {
    file.exec('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('no transaction'))) throw error;
  }
}
