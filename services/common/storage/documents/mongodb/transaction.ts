import { type ClientSession, MongoError } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import { retry } from '../../../platform/async/retry.ts';
import { type MongodbConnection, TRANSACTION } from './connection.ts';
import { isTransient } from './mongodb-errors.ts';

/** Time for retries of work when others change the same documents. */
const PATIENCE_MS = 10_000;
const LONGEST_PAUSE_MS = 50;

/**
 * Runs the work in a transaction, again when it met another one or a change of the primary; `work` must read again each
 * time. Errors other than these leave nothing written. Throws `ServiceUnavailableError` when others are always faster.
 */
export async function inTransaction<T>(
  connection: MongodbConnection,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const session = connection.client.startSession();
  try {
    return await connection.rescued(() => retryDisturbed(isTransient, () => runOnce(session, work)));
  } finally {
    await session.endSession();
  }
}

async function runOnce<T>(session: ClientSession, work: (session: ClientSession) => Promise<T>): Promise<T> {
  session.startTransaction(TRANSACTION);
  try {
    const result = await work(session);
    await commit(session);
    return result;
  } catch (error) {
    await abandon(session);
    throw error;
  }
}

/**
 * Repeats `work` while `isDisturbed` says that another change came between, for ten seconds.
 * Throws `ServiceUnavailableError` then.
 */
export function retryDisturbed<T>(isDisturbed: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const isRetryable = (error: unknown): boolean => {
    if (!isDisturbed(error)) return false;
    if (performance.now() > giveUpAt) throw tooManyChanges(error);
    return true;
  };
  return retry(work, { isRetryable, attempts: Number.POSITIVE_INFINITY, maxPauseMs: LONGEST_PAUSE_MS });
}

function tooManyChanges(cause: unknown): Error {
  const text = 'Too many changes of the same documents at the same time';
  return engramError('ServiceUnavailableError', text, { cause, retryable: true, retryAfterSeconds: 1 });
}

/** A commit whose answer was lost is asked for again: the server knows whether it happened. */
async function commit(session: ClientSession): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const isRetryable = (error: unknown) =>
    error instanceof MongoError &&
    error.hasErrorLabel('UnknownTransactionCommitResult') &&
    performance.now() <= giveUpAt;
  await retry(() => session.commitTransaction(), {
    isRetryable,
    attempts: Number.POSITIVE_INFINITY,
    maxPauseMs: LONGEST_PAUSE_MS,
  });
}

/** When the abort cannot be sent, the server gives up the transaction by a timeout. */
async function abandon(session: ClientSession): Promise<void> {
  if (!session.inTransaction()) return;
  try {
    await session.abortTransaction();
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
  }
}
