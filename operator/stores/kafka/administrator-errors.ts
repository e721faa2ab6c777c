import { isEngramError } from '../../../services/common/domain/errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

/** An error of the client as one of the port. The driver's classes are no exports that Node finds. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const reason = rootOf(error);
  const type = typeOf(reason);
  if (reason.name === 'KafkaJSSASLAuthenticationError' || /SASL/.test(type)) {
    return refused(store, 'look at ENGRAM_KAFKA_USER and ENGRAM_KAFKA_PASSWORD of the operator', error);
  }
  if (/AUTHORIZATION_FAILED/.test(type)) {
    return refused(store, 'ENGRAM_KAFKA_USER of the operator needs to describe and delete topics engram-*', error);
  }
  if (/SSL|TLS|certificate|self.signed/i.test(reason.message)) {
    return refused(store, 'its certificate is not to be trusted, or only one of both uses TLS', error);
  }
  if (/RequestTimeout|KafkaJSTimeout/.test(reason.name)) return tooSlow(store, error);
  if (/Connection|BrokerNotFound|Metadata/.test(reason.name) || /^Broker not connected/.test(reason.message)) {
    return away(store, error);
  }
  return reason.name.startsWith('KafkaJS') ? failed(store, type || reason.name, error) : error;
}

/** The protocol's name of the error: `UNKNOWN_TOPIC_OR_PARTITION`. */
export function typeOf(error: unknown): string {
  const { type } = (error ?? {}) as { readonly type?: unknown };
  return error instanceof Error && typeof type === 'string' ? type : '';
}

/** The driver wraps what ended its attempts. */
function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
