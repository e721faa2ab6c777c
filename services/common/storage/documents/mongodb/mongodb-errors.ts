import {
  MongoCompatibilityError,
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerSelectionError,
} from 'mongodb';
import { type EngramError, type ErrorName, engramError } from '../../../kernel/errors.ts';
import { CODES, codeOf, unwrapped } from './mongodb-failures.ts';

/** One clear message for what an operator can mend or a caller can repeat; null for any other error. */
export function mongodbError(thrown: unknown, address: string): EngramError | null {
  const error = unwrapped(thrown);
  if (!(error instanceof MongoError)) return null;
  const because = (name: ErrorName, text: string, retryable: boolean) =>
    engramError(name, text, { cause: error, retryable });
  const code = codeOf(error);
  if (code === CODES.authenticationFailed) {
    const text = `MongoDB at ${address} refuses the credentials: wrong user, password or authSource`;
    return because('ServiceUnavailableError', text, false);
  }
  if (code === CODES.unauthorized) {
    const text = `MongoDB at ${address} does not allow this: log in as a user with the role readWrite on Engram's databases`;
    return because('ServiceUnavailableError', text, false);
  }
  if (code === CODES.diskFull) {
    return because('ServiceUnavailableError', `The disk of MongoDB at ${address} is full; nothing was written`, true);
  }
  if (CODES.tooLarge.some((each) => each === code)) {
    return because('PayloadTooLargeError', 'A document is larger than the 16 MB that MongoDB holds', false);
  }
  if (code === CODES.maxTimeExpired || code === CODES.transactionLifetimeExceeded) {
    return because('DeadlineExceededError', `MongoDB at ${address} took too long`, true);
  }
  return unavailable(error, address, because);
}

type Because = (name: ErrorName, text: string, retryable: boolean) => EngramError;

/** Errors of the way to the server, and of a server that cannot answer just now. */
function unavailable(error: MongoError, address: string, because: Because): EngramError | null {
  if (isTooOld(error)) {
    return because('CogneeSystemError', `MongoDB at ${address} is too old: version 6.0 or newer is needed`, false);
  }
  if (error instanceof MongoNetworkTimeoutError) {
    return because('DeadlineExceededError', `MongoDB at ${address} did not answer in time`, true);
  }
  if (error instanceof MongoServerSelectionError) {
    const hint = hasOtherName(error) ? ' as a member of the replica set that its URL names' : '';
    return because('ServiceUnavailableError', `MongoDB at ${address} cannot be reached${hint}`, true);
  }
  const isPassing =
    error instanceof MongoNetworkError ||
    PASSING.has(error.name) ||
    CODES.passing.some((each) => each === codeOf(error)) ||
    error.hasErrorLabel('TransientTransactionError') ||
    error.hasErrorLabel('UnknownTransactionCommitResult') ||
    error.hasErrorLabel('RetryableWriteError');
  if (!isPassing) return null;
  return because('ServiceUnavailableError', `MongoDB at ${address} cannot answer just now`, true);
}

/** Classes that the driver does not export, or that say that it gave up for now. */
const PASSING: ReadonlySet<string> = new Set([
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

function isTooOld(error: MongoError): boolean {
  const text = `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`;
  return /wire version/i.test(text) && (error instanceof MongoCompatibilityError || /reports/i.test(text));
}

/** Servers that answer, but not as what the URL says, are dropped: none of those left has failed. */
function hasOtherName({ reason }: MongoServerSelectionError): boolean {
  return [...(reason?.servers.values() ?? [])].every((server) => server.error === null);
}
