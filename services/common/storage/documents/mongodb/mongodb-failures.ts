import { MongoBulkWriteError, MongoError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';

/** What an error of the driver is about. The administrator of databases, in the operator, reads its errors by this too. */

/** Codes of the server that have a meaning for whoever runs the service. */
export const CODES = {
  unauthorized: 13,
  authenticationFailed: 18,
  maxTimeExpired: 50,
  transactionLifetimeExceeded: 290,
  tooLarge: [10334, 17280],
  duplicateKey: 11000,
  diskFull: 14031,
  snapshotTooOld: 239,
  /** A lost cursor or one that was killed, no primary just now, a server that shuts down. */
  passing: [43, 237, 91, 189, 10107, 11600, 11602, 13435, 13436],
} as const;

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === CODES.duplicateKey;
}

export function isSnapshotTooOld(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === CODES.snapshotTooOld;
}

/** The name of the broken index, from `E11000 duplicate key error collection: a.b index: unique.key dup key: { … }`. */
export function brokenIndex(error: MongoServerError): string {
  return / index: (\S+) dup key: /.exec(error.message)?.[1] ?? '';
}

/** The transaction did nothing and may be tried again. After a silent server no time is left for that. */
export function isTransient(error: unknown): boolean {
  const cause = unwrapped(error);
  if (!(cause instanceof MongoError) || cause instanceof MongoNetworkTimeoutError) return false;
  return cause.hasErrorLabel('TransientTransactionError');
}

/** The driver puts whatever stops a list of writes, a lost connection too, into an error of its own. */
export function unwrapped(error: unknown): unknown {
  const isWrapper = error instanceof MongoBulkWriteError && error.errorResponse instanceof MongoError;
  return isWrapper ? error.errorResponse : error;
}

/** The code is on the error, or on the one that made a server unusable. */
export function codeOf(error: MongoError): number | null {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'number') return code;
  return cause instanceof MongoError ? codeOf(cause) : null;
}

/** Hosts and options of a connection string, without credentials. */
export function addressOf(url: string): string {
  const hosts = /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]*)/i.exec(url)?.[1];
  return hosts === undefined || hosts === '' ? 'no mongodb:// address' : hosts;
}
