import { type ErrorName, engramError, isEngramError } from '../../kernel/errors.ts';
import { isNotAllowed, isOfDriver, isTimeout, isTls, isUnreachable, rootOf, typeOf } from './kafka-failures.ts';

/** One clear message for what an operator can mend or a caller can repeat; any other error as it is. No secrets in it. */
export function kafkaError(error: unknown, address: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const because = (name: ErrorName, text: string, retryable: boolean) =>
    engramError(name, text, { cause: error, retryable });
  const server = `Kafka at ${address}`;
  const reason = rootOf(error);
  if (reason.name === 'KafkaJSSASLAuthenticationError') {
    const text = `${server} refuses the credentials: wrong user, password or SASL mechanism`;
    return because('ServiceUnavailableError', text, false);
  }
  const type = typeOf(reason);
  if (/SASL/.test(type)) {
    return because('ServiceUnavailableError', `${server} does not take this login: ${type}`, false);
  }
  if (isNotAllowed(reason)) {
    const needed = 'it needs to write and describe the topics, or to create them, and to write idempotently';
    return because('ServiceUnavailableError', `${server} does not allow this to the user: ${needed}`, false);
  }
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') {
    return because('PayloadTooLargeError', `An event is larger than ${server} takes`, false);
  }
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return because('ServiceUnavailableError', `${server} lacks a topic, and does not make it`, true);
  }
  if (type === 'INVALID_TOPIC_EXCEPTION') {
    return because(
      'ServiceUnavailableError',
      `${server} does not take the names of the topics: look at their prefix`,
      false,
    );
  }
  if (isTls(reason)) {
    const text = `${server} and this client do not agree on TLS: its certificate is not to be trusted, or only one of them uses it`;
    return because('ServiceUnavailableError', text, false);
  }
  if (isTimeout(reason)) {
    return because('DeadlineExceededError', `${server} did not answer in time`, true);
  }
  if (isUnreachable(reason)) {
    return because('ServiceUnavailableError', `${server} cannot be reached`, true);
  }
  if (!isOfDriver(reason)) return error;
  return because('ServiceUnavailableError', `${server} cannot answer just now: ${type || reason.name}`, true);
}
