import { type EngramError, isEngramError } from '../../../kernel/errors.ts';
import { storeFaults } from '../../rules/store-faults.ts';

export interface Neo4jAddress {
  /** Without credentials. */
  readonly url: string;
  readonly user: string;
}

const RETRY_AFTER_SECONDS = 1;
const NO_DATABASE = 'Neo.ClientError.Database.DatabaseNotFound';
const TRANSIENT = /^Neo\.(TransientError|DatabaseError)\./;
const WRONG_LOGIN =
  /^Neo\.ClientError\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)$/;

/** One clear message for what an operator can fix or a caller can repeat; any other error as it is. */
export function neo4jError(error: unknown, { url, user }: Neo4jAddress): unknown {
  if (isEngramError(error) || !isDriverError(error)) return error;
  const { code } = error;
  const faults = storeFaults(error, RETRY_AFTER_SECONDS);
  const server = `Neo4j at ${url}`;
  if (isWrongLogin(error)) return faults.refused(`${server} refuses the credentials of the user "${user}".`);
  if (isForbidden(error)) return faults.refused(`${server} does not let the user "${user}" do this.`);
  if (code === NO_DATABASE) return faults.refused(`${server} lacks a database: ${error.message}`);
  if (isTimeout(error)) return timedOut(url, error);
  if (isUnreachable(error)) return faults.unavailable(`${server} cannot be reached.`);
  if (TRANSIENT.test(code)) return faults.unavailable(`${server} could not do this now (${code}).`);
  return error;
}

export function timedOut(url: string, cause?: unknown): EngramError {
  return storeFaults(cause).timedOut(`Neo4j at ${url} did not answer in time.`);
}

interface DriverError extends Error {
  readonly code: string;
}

export function isDriverError(error: unknown): error is DriverError {
  return (
    error instanceof Error && error.name === 'Neo4jError' && typeof (error as { code?: unknown }).code === 'string'
  );
}

/** Whether user or password is wrong or expired. */
export function isWrongLogin({ code }: DriverError): boolean {
  return WRONG_LOGIN.test(code);
}

export function isForbidden({ code }: DriverError): boolean {
  return code === 'Neo.ClientError.Security.Forbidden';
}

export function isTimeout({ code }: DriverError): boolean {
  return code.startsWith('Neo.ClientError.Transaction.TransactionTimedOut');
}

export function isUnreachable({ code, message }: DriverError): boolean {
  return code === 'ServiceUnavailable' || code === 'SessionExpired' || /acquisition timed out/.test(message);
}
