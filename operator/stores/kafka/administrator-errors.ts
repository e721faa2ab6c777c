import { isEngramError } from '../../../services/common/kernel/errors.ts';
import {
  isNotAllowed,
  isOfDriver,
  isTimeout,
  isTls,
  isUnreachable,
  isWrongLogin,
  rootOf,
  typeOf,
} from '../../../services/common/storage/kafka/kafka-errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

/** An error of the client as one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const root = rootOf(error);
  if (isWrongLogin(root)) {
    return refused(store, 'look at ENGRAM_KAFKA_USER and ENGRAM_KAFKA_PASSWORD of the operator', error);
  }
  if (isNotAllowed(root)) {
    return refused(store, 'ENGRAM_KAFKA_USER of the operator needs to describe and delete topics engram-*', error);
  }
  if (isTls(root)) {
    return refused(store, 'its certificate is not to be trusted, or only one of both uses TLS', error);
  }
  if (isTimeout(root)) return tooSlow(store, error);
  if (isUnreachable(root)) return away(store, error);
  return isOfDriver(root) ? failed(store, typeOf(root) || root.name, error) : error;
}
