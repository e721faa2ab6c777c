import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { migrate } from '../sqlite/migrations.ts';
import { openForReading, openForWriting } from '../sqlite/open-database.ts';
import { storeError } from '../sqlite/sqlite-errors.ts';
import { createStatementCache, type StatementCache } from '../sqlite/statement-cache.ts';
import { DATASET_MIGRATIONS } from './schema.ts';

/** An open dataset file. Rows come as arrays. */
export interface OpenFile extends StatementCache {
  readonly path: string;
  exec(sql: string): void;
  /** Each row as it is read. The array is the callee's; answering false ends the reading. */
  each(sql: string, parameters: readonly number[], visit: (row: readonly never[]) => boolean): void;
}

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
  if (mode === 'write') makeDirectory(path);
  const database = mode === 'write' ? openForWriting(path) : openForReading(path);
  try {
    if (mode === 'read' && isEmpty(database)) {
      database.close();
      return null;
    }
    // A reader's file is never behind: it passes the check that the writer makes, or its first query is refused here.
    migrate(database, { file: path, autoMigrate: mode === 'write' && autoMigrate, migrations: DATASET_MIGRATIONS });
    return { database, file: asOpenFile(database, path) };
  } catch (error) {
    database.close();
    throw storeError(error, path) ?? error;
  }
}

function makeDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
}

/** A file that the writer is about to set up. */
function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function asOpenFile(database: DatabaseSync, path: string): OpenFile {
  return {
    path,
    ...createStatementCache(database),
    exec: (sql) => database.exec(sql),
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
