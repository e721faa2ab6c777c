import { type EngramError, engramError, isEngramError } from '../../../kernel/errors.ts';
import { isDriverError, isForbidden, isTimeout, isUnreachable, isWrongLogin } from './neo4j-failures.ts';

export interface Neo4jAddress {
  /** Without credentials. */
  readonly url: string;
  readonly user: string;
}

const NO_DATABASE = 'Neo.ClientError.Database.DatabaseNotFound';
const TRANSIENT = /^Neo\.(TransientError|DatabaseError)\./;

/** What a failure of the driver means to a caller; anything that is no failure of the server stays as it is. */
export function translateError(error: unknown, { url, user }: Neo4jAddress): unknown {
  if (isEngramError(error) || !isDriverError(error)) return error;
  const { code } = error;
  const unavailable = (message: string, retryable: boolean): EngramError =>
    engramError('ServiceUnavailableError', message, {
      cause: error,
      retryable,
      ...(retryable && { retryAfterSeconds: 1 }),
    });
  if (isWrongLogin(error)) return unavailable(`Neo4j at ${url} refuses the credentials of the user "${user}".`, false);
  if (isForbidden(error)) return unavailable(`Neo4j at ${url} does not let the user "${user}" do this.`, false);
  if (code === NO_DATABASE) return unavailable(`Neo4j at ${url} lacks a database: ${error.message}`, false);
  if (isTimeout(error)) return timedOut(url, error);
  if (isUnreachable(error)) {
    return unavailable(`Neo4j at ${url} cannot be reached.`, true);
  }
  if (TRANSIENT.test(code)) return unavailable(`Neo4j at ${url} could not do this now (${code}).`, true);
  return error;
}

export function timedOut(url: string, cause?: unknown): EngramError {
  return engramError('DeadlineExceededError', `Neo4j at ${url} did not answer in time.`, { cause, retryable: true });
}
