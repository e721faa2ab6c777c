import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { engramError } from '../../../kernel/errors.ts';
import { storeError } from './sqlite-errors.ts';

/** `busyTimeoutMs` covers the moments in which another connection of this process finishes its checkpoint. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * Pages of 4 KiB in the log before a commit waits for it to be written back. Idle moments do that earlier
 * (`storage-worker.ts`); at SQLite's 1000 every 200th commit of a busy store waited for the disk.
 */
const LOG_PAGES = 8_000;
/** A log that a large commit blew up is cut back to this size by the next checkpoint. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

/**
 * Opens (and creates) a file of record: WAL, `synchronous=NORMAL` (a commit survives the death of the process; a power
 * cut may take the last ones but leaves the file whole), deleted content overwritten. Errors name the file.
 */
export function openForWriting(file: string): DatabaseSync {
  makePrivate(file);
  refuseCutFile(file);
  return opening(
    file,
    false,
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
     PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000;
     PRAGMA wal_autocheckpoint = ${LOG_PAGES}; PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES};`,
  );
}

/**
 * A second connection for queries; sees every commit that was acknowledged before the query began. Small cache: pages that
 * it lacks are in the memory of the system, a microsecond away, once for all connections.
 */
export function openForReading(file: string): DatabaseSync {
  return opening(file, true, 'PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;');
}

function opening(file: string, readOnly: boolean, settings: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly });
    database.exec(settings);
    return database;
  } catch (error) {
    // An open connection holds the space of a removed file.
    database?.close();
    throw storeError(error, file) ?? error;
  }
}

/** SQLite would let everybody read what it makes; its log takes after the file. Existing files stay as they are. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // It exists, or it cannot be created: opening the database then says why.
  }
}

/**
 * SQLite notices a file shorter than its header says only when it reads a missing page, perhaps days later. A log beside
 * the file may hold the missing pages, so only a file without one is judged.
 */
function refuseCutFile(file: string): void {
  const header = readHeader(file);
  if (header === null || hasLog(file)) return;
  const rawPageSize = header.bytes.readUInt16BE(16);
  const pageSize = rawPageSize === 1 ? 65_536 : rawPageSize;
  const pages = header.bytes.readUInt32BE(28);
  if (pages * pageSize > header.sizeBytes) {
    throw engramError(
      'CorruptStoreError',
      `The database file ${file} is cut short: ${header.sizeBytes} bytes of ${pages * pageSize}. Restore it from a backup`,
    );
  }
}

function readHeader(file: string): { readonly bytes: Buffer; readonly sizeBytes: number } | null {
  const descriptor = openIfThere(file);
  if (descriptor === null) return null;
  try {
    const bytes = Buffer.alloc(100);
    if (readSync(descriptor, bytes, 0, 100, 0) < 100) return null;
    return bytes.toString('latin1', 0, 15) === 'SQLite format 3'
      ? { bytes, sizeBytes: fstatSync(descriptor).size }
      : null;
  } finally {
    closeSync(descriptor);
  }
}

function hasLog(file: string): boolean {
  const descriptor = openIfThere(`${file}-wal`);
  if (descriptor === null) return false;
  closeSync(descriptor);
  return true;
}

/** Null when the file cannot be read; opening the database then says why. */
function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}
