import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { migrate } from '../sqlite/migrations.ts';
import { openForReading, openForWriting } from '../sqlite/open-database.ts';
import { storeError } from '../sqlite/sqlite-errors.ts';
import { createStatementCache, type StatementCache } from '../sqlite/statement-cache.ts';
import { DATASET_MIGRATIONS } from './schema.ts';

/** An open dataset file. Rows come as arrays. */
export interface OpenFile extends StatementCache {
  readonly path: string;
  /** Node ids by number, as far as they were read: numbers are never reused, so an entry stays true. */
  readonly nodeIds: Map<number, string>;
  exec(sql: string): void;
  /** For loops over many rows: about 1 µs less a call than `run`. Keep it no longer than the transaction. */
  writer(sql: string): (...parameters: SQLInputValue[]) => void;
  /** Each row as it is read. The array is the callee's; answering false ends the reading. */
  each(sql: string, parameters: readonly number[], visit: (row: readonly never[]) => boolean): void;
}

const NEWEST_VERSION = DATASET_MIGRATIONS.at(-1)?.version ?? 0;
/** Files that keep their page cache; the others give it back, so that many open files cost little. */
const WARM_FILES = 4;

/** Open files of one thread, closed by least recent use. */
export interface OpenFiles {
  /** Null when a reader asks for a file that does not exist. */
  open(path: string): OpenFile | null;
  forget(path: string): void;
  closeAll(): void;
}

export interface OpenFilesOptions {
  readonly limit: number;
  readonly mode: 'read' | 'write';
  readonly autoMigrate: boolean;
}

interface Entry {
  readonly database: DatabaseSync;
  readonly file: OpenFile;
}

export function createOpenFiles(options: OpenFilesOptions): OpenFiles {
  const entries = new Map<string, Entry>();
  const forget = (path: string) => {
    entries.get(path)?.database.close();
    entries.delete(path);
  };
  const coolDown = () => {
    const cooled = [...entries.values()].at(-1 - WARM_FILES);
    cooled?.file.exec('PRAGMA shrink_memory');
    cooled?.file.nodeIds.clear();
  };
  let latest = '';
  return {
    forget,
    open(path) {
      const known = entries.get(path);
      if (known && path === latest) return known.file;
      if (known) {
        entries.delete(path);
        entries.set(path, known);
        latest = path;
        coolDown();
        return known.file;
      }
      if (options.mode === 'read' && !existsSync(path)) return null;
      const opened = openDatasetFile(path, options);
      if (opened === null) return null;
      for (const oldest of entries.keys()) {
        if (entries.size < options.limit) break;
        forget(oldest);
      }
      entries.set(path, opened);
      latest = path;
      coolDown();
      return opened.file;
    },
    closeAll() {
      for (const path of [...entries.keys()]) forget(path);
    },
  };
}

/** Removes a dataset's file; nothing may have it open for writing. */
export function removeDatasetFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function openDatasetFile(path: string, { mode, autoMigrate }: OpenFilesOptions): Entry | null {
  if (mode === 'write') return openForWork(path, openWritable(path, autoMigrate));
  const database = openForReading(path);
  const version = storedVersion(database, path);
  if (version === null || !autoMigrate || version >= NEWEST_VERSION) {
    return version === null ? closed(database) : openForWork(path, database);
  }
  database.close();
  // The one write that is not the storage worker's: nothing can be read before it is done.
  openWritable(path, true).close();
  return openForWork(path, openForReading(path));
}

/** Makes the file when it is not there. */
function openWritable(path: string, autoMigrate: boolean): DatabaseSync {
  makeDirectory(path);
  const database = openForWriting(path);
  // 16 MB: the pages that every commit of an import touches are copied into the file once, not for each commit.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
  try {
    checkLayout(database, path, autoMigrate);
    return database;
  } catch (error) {
    // Another thread of this process may have done the same migration meanwhile.
    if (storedVersion(database, path) === NEWEST_VERSION) return database;
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function openForWork(path: string, database: DatabaseSync): Entry {
  try {
    checkLayout(database, path, false);
    return { database, file: asOpenFile(database, path) };
  } catch (error) {
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function checkLayout(database: DatabaseSync, path: string, autoMigrate: boolean): void {
  migrate(database, { file: path, autoMigrate, migrations: DATASET_MIGRATIONS });
}

/** Null for a file that the writer is about to set up; 0 for one of somebody else, which `migrate` then refuses. */
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

function closed(database: DatabaseSync): null {
  database.close();
  return null;
}

function makeDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
}

function asOpenFile(database: DatabaseSync, path: string): OpenFile {
  return {
    path,
    nodeIds: new Map(),
    ...createStatementCache(database),
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

/** Runs `work` on one snapshot. */
export function reading<Result>(file: OpenFile, work: () => Result): Result {
  file.exec('BEGIN');
  try {
    return work();
  } finally {
    rollBack(file);
  }
}

/** SQLite rolls back by itself after a full disk or a damaged page; a second time is no error here. */
function rollBack(file: OpenFile): void {
  try {
    file.exec('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('no transaction'))) throw error;
  }
}
