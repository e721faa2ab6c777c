import { isEngramError } from '../../kernel/errors.ts';
import { storeFaults } from '../rules/store-faults.ts';

/** One clear message for what an operator can fix or a caller can repeat, without secrets; any other error as it is. */
export function kafkaError(error: unknown, address: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const faults = storeFaults(error);
  const server = `Kafka at ${address}`;
  const reason = rootOf(error);
  if (reason.name === 'KafkaJSSASLAuthenticationError') {
    return faults.refused(`${server} refuses the credentials: wrong user, password or SASL mechanism`);
  }
  const type = typeOf(reason);
  if (/SASL/.test(type)) return faults.refused(`${server} does not take this login: ${type}`);
  if (isNotAllowed(reason)) {
    const needed = 'it needs to write and describe the topics, or to create them, and to write idempotently';
    return faults.refused(`${server} does not allow this to the user: ${needed}`);
  }
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') {
    return faults.tooLarge(`An event is larger than ${server} takes`);
  }
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return faults.unavailable(`${server} lacks a topic and does not create it`);
  }
  if (type === 'INVALID_TOPIC_EXCEPTION') {
    return faults.refused(`${server} does not accept the topic names: check their prefix`);
  }
  if (isTls(reason)) {
    const reasons = 'its certificate is not trusted, or only one of them uses it';
    return faults.refused(`${server} and this client do not agree on TLS: ${reasons}`);
  }
  if (isTimeout(reason)) return faults.timedOut(`${server} did not answer in time`);
  if (isUnreachable(reason)) return faults.unavailable(`${server} cannot be reached`);
  if (!isOfDriver(reason)) return error;
  return faults.unavailable(`${server} cannot answer just now: ${type || reason.name}`);
}

/** Whether the user lacks a permission. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && /AUTHORIZATION_FAILED/.test(typeOf(rootOf(error)));
}

/** The error below the wrappers of the driver: of its last attempt, or of one of several topics. */
export function rootOf(error: Error): Error {
  const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] };
  const inner = Array.isArray(errors) ? errors.find((each) => typeOf(each) !== 'TOPIC_ALREADY_EXISTS') : cause;
  return inner instanceof Error ? rootOf(inner) : error;
}

/** Name of the error in the protocol, such as `TOPIC_AUTHORIZATION_FAILED`. Node does not find the driver's classes among its exports. */
export function typeOf(error: unknown): string {
  const { type } = (error ?? {}) as { readonly type?: unknown };
  return error instanceof Error && typeof type === 'string' ? type : '';
}

/** Whether user, password or SASL mechanism is wrong. */
export function isWrongLogin(root: Error): boolean {
  return root.name === 'KafkaJSSASLAuthenticationError' || /SASL/.test(typeOf(root));
}

/** Whether only one side uses TLS, or the certificate is not trusted. */
export function isTls({ message }: Error): boolean {
  return /SSL|TLS|certificate|self.signed/i.test(message);
}

export function isTimeout({ name }: Error): boolean {
  return name === 'KafkaJSRequestTimeoutError' || name === 'KafkaJSTimeout';
}

/** Whether a broker cannot be reached; the driver has a plain error for one that accepts the connection and does not answer. */
export function isUnreachable({ name, message }: Error): boolean {
  return /Connection|BrokerNotFound|Metadata/.test(name) || /^Broker not connected/.test(message);
}

export function isOfDriver({ name }: Error): boolean {
  return name.startsWith('KafkaJS');
}
