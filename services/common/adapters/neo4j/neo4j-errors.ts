import { type EngramError, engramError, isEngramError } from '../../domain/errors.ts';

export interface Neo4jAddress {
  /** Without credentials. */
  readonly url: string;
  readonly user: string;
}

interface DriverError extends Error {
  readonly code: string;
}

const UNREACHABLE = new Set(['ServiceUnavailable', 'SessionExpired']);
const REFUSED = /^Neo\.ClientError\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)$/;
const FORBIDDEN = 'Neo.ClientError.Security.Forbidden';
const NO_DATABASE = 'Neo.ClientError.Database.DatabaseNotFound';
const TIMED_OUT = /^Neo\.ClientError\.Transaction\.TransactionTimedOut/;
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
  if (REFUSED.test(code)) return unavailable(`Neo4j at ${url} refuses the credentials of the user "${user}".`, false);
  if (code === FORBIDDEN) return unavailable(`Neo4j at ${url} does not let the user "${user}" do this.`, false);
  if (code === NO_DATABASE) return unavailable(`Neo4j at ${url} lacks a database: ${error.message}`, false);
  if (TIMED_OUT.test(code)) return timedOut(url, error);
  if (UNREACHABLE.has(code) || /acquisition timed out/.test(error.message)) {
    return unavailable(`Neo4j at ${url} cannot be reached.`, true);
  }
  if (TRANSIENT.test(code)) return unavailable(`Neo4j at ${url} could not do this now (${code}).`, true);
  return error;
}

export function timedOut(url: string, cause?: unknown): EngramError {
  return engramError('DeadlineExceededError', `Neo4j at ${url} did not answer in time.`, { cause, retryable: true });
}

export function isDriverError(error: unknown): error is DriverError {
  return (
    error instanceof Error && error.name === 'Neo4jError' && typeof (error as { code?: unknown }).code === 'string'
  );
}
