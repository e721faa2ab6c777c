import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { engramError } from '../../../kernel/errors.ts';
import { sqliteCode, storeError } from './sqlite-errors.ts';

/**
 * Makes this process the only one on a data directory, by an open exclusive transaction on `lock.db`: the operating
 * system drops it with the process, so a killed one leaves nothing behind. Nothing else in the process may open
 * `lock.db`: closing any descriptor of a file gives up the POSIX locks on it. `ConflictError` when another one holds it.
 */
export async function lockDataDirectory(directory: string) {
  const file = join(directory, 'lock.db');
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    if (database?.isOpen) database.close();
    if (sqliteCode(error) === 5) {
      throw engramError(
        'ConflictError',
        `Another Engram process uses the data directory ${directory}. Stop it, or give this one a directory of its own ` +
          'with ENGRAM_DATA_DIR',
        { cause: error },
      );
    }
    throw storeError(error, file) ?? error;
  }
  const held = database;
  return {
    /** Resolves when another process may take the directory. Releasing twice is no error. */
    async release() {
      if (held.isOpen) held.close(); // ends the transaction too
    },
  };
}
