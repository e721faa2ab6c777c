import { isEngramError } from '../../../services/common/domain/errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

const LOGIN = /^Neo\.ClientError\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)$/;

/** An error of the driver as one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const code = String((error as { code?: unknown }).code ?? '');
  if (error.name !== 'Neo4jError') {
    return /URL|scheme/i.test(error.message)
      ? refused(store, 'ENGRAM_NEO4J_URL is no neo4j:// address', undefined)
      : error;
  }
  if (LOGIN.test(code)) {
    return refused(store, 'look at ENGRAM_OPERATOR_NEO4J_USER and ENGRAM_OPERATOR_NEO4J_PASSWORD', error);
  }
  if (code === 'Neo.ClientError.Security.Forbidden') {
    return refused(store, 'ENGRAM_OPERATOR_NEO4J_USER needs the role admin', error);
  }
  if (/TransactionTimedOut/.test(code)) return tooSlow(store, error);
  if (code === 'ServiceUnavailable' || code === 'SessionExpired' || /acquisition timed out/.test(error.message)) {
    return away(store, error);
  }
  return failed(store, code, error);
}
