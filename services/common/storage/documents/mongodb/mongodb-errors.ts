import {
  MongoBulkWriteError,
  MongoCompatibilityError,
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { type EngramError, engramError } from '../../../kernel/errors.ts';
import { type StoreFaults, storeFaults } from '../../rules/store-faults.ts';

/** Codes of the server that have a meaning for operators. */
export const CODES = {
  unauthorized: 13,
  authenticationFailed: 18,
  maxTimeExpired: 50,
  transactionLifetimeExceeded: 290,
  tooLarge: [10334, 17280],
  duplicateKey: 11000,
  diskFull: 14031,
  snapshotTooOld: 239,
  /** Lost or killed cursor, no primary just now, server that shuts down, operation that was killed. */
  transient: [43, 237, 91, 189, 10107, 11600, 11601, 11602, 13435, 13436],
} as const;

/** Classes that the driver does not export, or that say that it gave up for now. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoWriteConcernError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoServerClosedError',
  'MongoExpiredSessionError',
  'MongoStalePrimaryError',
  'MongoUnexpectedServerResponseError',
]);

/** One clear message for what an operator can fix or a caller can repeat; any other error as it is. */
export function mongodbError(thrown: unknown, address: string): unknown {
  const error = unwrapped(thrown);
  if (!(error instanceof MongoError)) return thrown;
  const faults = storeFaults(error);
  const server = `MongoDB at ${address}`;
  const code = codeOf(error);
  if (code === CODES.authenticationFailed) {
    return faults.refused(`${server} refuses the credentials: wrong user, password or authSource`);
  }
  if (code === CODES.unauthorized) {
    const needed = "log in as a user with the role readWrite on Engram's databases";
    return faults.refused(`${server} does not allow this: ${needed}`);
  }
  if (code === CODES.diskFull) return faults.unavailable(`The disk of ${server} is full; nothing was written`);
  if (CODES.tooLarge.some((each) => each === code)) {
    return faults.tooLarge('A document is larger than the 16 MB that MongoDB holds');
  }
  if (code === CODES.maxTimeExpired || code === CODES.transactionLifetimeExceeded) {
    return faults.timedOut(`${server} took too long`);
  }
  return unavailable(error, server, faults) ?? thrown;
}

/** Errors of the way to the server, and of a server that cannot answer just now. */
function unavailable(error: MongoError, server: string, faults: StoreFaults): EngramError | null {
  if (isTooOld(error)) {
    const message = `${server} is too old: version 6.0 or newer is needed`;
    return engramError('CogneeSystemError', message, { cause: error });
  }
  if (error instanceof MongoNetworkTimeoutError) return faults.timedOut(`${server} did not answer in time`);
  if (error instanceof MongoServerSelectionError) {
    const hint = hasOtherName(error) ? ' as a member of the replica set that its URL names' : '';
    return faults.unavailable(`${server} cannot be reached${hint}`);
  }
  const isRetryable =
    error instanceof MongoNetworkError ||
    TRANSIENT.has(error.name) ||
    CODES.transient.some((each) => each === codeOf(error)) ||
    error.hasErrorLabel('TransientTransactionError') ||
    error.hasErrorLabel('UnknownTransactionCommitResult') ||
    error.hasErrorLabel('RetryableWriteError');
  return isRetryable ? faults.unavailable(`${server} cannot answer just now`) : null;
}

function isTooOld(error: MongoError): boolean {
  const text = `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`;
  return /wire version/i.test(text) && (error instanceof MongoCompatibilityError || /reports/i.test(text));
}

/** Whether the servers answered under other names than the URL has: those are dropped, and none of those left has failed. */
function hasOtherName({ reason }: MongoServerSelectionError): boolean {
  return [...(reason?.servers.values() ?? [])].every((server) => server.error === null);
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === CODES.duplicateKey;
}

export function isSnapshotTooOld(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === CODES.snapshotTooOld;
}

/** Name of the broken index, from `E11000 duplicate key error collection: a.b index: unique.key dup key: { … }`. */
export function brokenIndex(error: MongoServerError): string {
  return / index: (\S+) dup key: /.exec(error.message)?.[1] ?? '';
}

/** Whether the transaction did nothing and may be tried again. After a timeout of the server no time is left for that. */
export function isTransient(error: unknown): boolean {
  const cause = unwrapped(error);
  if (!(cause instanceof MongoError) || cause instanceof MongoNetworkTimeoutError) return false;
  return cause.hasErrorLabel('TransientTransactionError');
}

/** Unwraps the error of a list of writes: the driver puts any cause, a lost connection too, into an error of its own. */
function unwrapped(error: unknown): unknown {
  const isWrapper = error instanceof MongoBulkWriteError && error.errorResponse instanceof MongoError;
  return isWrapper ? error.errorResponse : error;
}

/** Code of the error, or of the one that made a server unusable. */
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
