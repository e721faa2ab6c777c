/** What an error of the driver is about. The administrator of databases, in the operator, reads its errors by this too. */

export interface DriverError extends Error {
  readonly code: string;
}

export function isDriverError(error: unknown): error is DriverError {
  return (
    error instanceof Error && error.name === 'Neo4jError' && typeof (error as { code?: unknown }).code === 'string'
  );
}

/** User or password is wrong, or ended. */
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

const WRONG_LOGIN =
  /^Neo\.ClientError\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)$/;
