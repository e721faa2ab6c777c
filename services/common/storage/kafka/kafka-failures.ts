/** What an error of the driver is about. The administrator of topics, in the operator, reads its errors by this too. */

/** The user lacks a permission. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && /AUTHORIZATION_FAILED/.test(typeOf(rootOf(error)));
}

/** The driver wraps what ended its attempts, and what several topics ended with. */
export function rootOf(error: Error): Error {
  const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] };
  const inner = Array.isArray(errors) ? errors.find((each) => typeOf(each) !== 'TOPIC_ALREADY_EXISTS') : cause;
  return inner instanceof Error ? rootOf(inner) : error;
}

/** The protocol's name of the error: `TOPIC_AUTHORIZATION_FAILED`. The driver's classes are no exports that Node finds. */
export function typeOf(error: unknown): string {
  const { type } = (error ?? {}) as { readonly type?: unknown };
  return error instanceof Error && typeof type === 'string' ? type : '';
}

/** User or password is wrong, or the way to sign in. */
export function isWrongLogin(root: Error): boolean {
  return root.name === 'KafkaJSSASLAuthenticationError' || /SASL/.test(typeOf(root));
}

/** One of both does not use TLS, or the certificate is not to be trusted. */
export function isTls({ message }: Error): boolean {
  return /SSL|TLS|certificate|self.signed/i.test(message);
}

export function isTimeout({ name }: Error): boolean {
  return name === 'KafkaJSRequestTimeoutError' || name === 'KafkaJSTimeout';
}

/** A plain error is what the driver has for a broker that accepted the connection and said nothing. */
export function isUnreachable({ name, message }: Error): boolean {
  return /Connection|BrokerNotFound|Metadata/.test(name) || /^Broker not connected/.test(message);
}

export function isOfDriver({ name }: Error): boolean {
  return name.startsWith('KafkaJS');
}
