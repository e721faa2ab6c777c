import { type ErrorName, engramError, isEngramError } from '../../domain/errors.ts';

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
  if (/AUTHORIZATION_FAILED/.test(type)) {
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
  if (reason.name === 'KafkaJSRequestTimeoutError' || reason.name === 'KafkaJSTimeout') {
    return because('DeadlineExceededError', `${server} did not answer in time`, true);
  }
  // A plain error is what the driver has for a broker that accepted the connection and said nothing.
  if (/Connection|BrokerNotFound|Metadata/.test(reason.name) || /^Broker not connected/.test(reason.message)) {
    return because('ServiceUnavailableError', `${server} cannot be reached`, true);
  }
  if (!reason.name.startsWith('KafkaJS')) return error;
  return because('ServiceUnavailableError', `${server} cannot answer just now: ${type || reason.name}`, true);
}

/** The user lacks a permission. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && /AUTHORIZATION_FAILED/.test(typeOf(rootOf(error)));
}

/** The driver wraps what ended its attempts, and what several topics ended with. */
function rootOf(error: Error): Error {
  const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] };
  const inner = Array.isArray(errors) ? errors.find((each) => typeOf(each) !== 'TOPIC_ALREADY_EXISTS') : cause;
  return inner instanceof Error ? rootOf(inner) : error;
}

/** The protocol's name of the error: `TOPIC_AUTHORIZATION_FAILED`. The driver's classes are no exports that Node finds. */
function typeOf(error: unknown): string {
  const { type } = (error ?? {}) as { readonly type?: unknown };
  return error instanceof Error && typeof type === 'string' ? type : '';
}

function isTls({ message }: Error): boolean {
  return /SSL|TLS|certificate|self.signed/i.test(message);
}
