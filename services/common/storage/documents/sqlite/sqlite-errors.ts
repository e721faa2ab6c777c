import { type EngramError, engramError } from '../../../kernel/errors.ts';
import { storeFaults } from '../../rules/store-faults.ts';

/** Primary result codes of SQLite that have a meaning for operators. */
const CODES = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The primary result code of an error thrown by `node:sqlite`, null for any other error. */
export function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

/** UNIQUE and PRIMARY KEY violations. */
export function isUniqueViolation(error: unknown): error is Error {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return code === 2067 || code === 1555;
}

/** One clear message about the file for what an operator can fix; null when the error is not of that kind. */
export function storeError(error: unknown, file: string): EngramError | null {
  const faults = storeFaults(error);
  switch (sqliteCode(error)) {
    case CODES.corrupt:
    case CODES.notADatabase:
      return engramError(
        'CorruptStoreError',
        `The database file ${file} is damaged or not an SQLite database. Restore it from a backup, or move it away to start empty`,
        { cause: error },
      );
    case CODES.full:
      return faults.unavailable(`The disk that holds ${file} is full; nothing was written`);
    case CODES.readOnly:
      return faults.refused(`The database file ${file} cannot be written: it is read-only`);
    case CODES.cannotOpen:
      return faults.refused(
        `The database file ${file} cannot be opened or created: check that its directory exists and can be written`,
      );
    case CODES.io:
      return faults.unavailable(`Reading or writing the database file ${file} failed`);
    case CODES.busy:
    case CODES.locked:
      return faults.unavailable(`The database file ${file} is in use by another process`);
    default:
      return null;
  }
}
