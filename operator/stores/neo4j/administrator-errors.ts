import { isEngramError } from '../../../services/common/kernel/errors.ts';
import {
  isDriverError,
  isForbidden,
  isTimeout,
  isUnreachable,
  isWrongLogin,
} from '../../../services/common/storage/graph/neo4j/neo4j-errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

/** An error of the driver as one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  if (!isDriverError(error)) {
    return /URL|scheme/i.test(error.message)
      ? refused(store, 'ENGRAM_NEO4J_URL is no neo4j:// address', undefined)
      : error;
  }
  if (isWrongLogin(error)) {
    return refused(store, 'look at ENGRAM_OPERATOR_NEO4J_USER and ENGRAM_OPERATOR_NEO4J_PASSWORD', error);
  }
  if (isForbidden(error)) return refused(store, 'ENGRAM_OPERATOR_NEO4J_USER needs the role admin', error);
  if (isTimeout(error)) return tooSlow(store, error);
  if (isUnreachable(error)) return away(store, error);
  return failed(store, error.code, error);
}
