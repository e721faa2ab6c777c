/**
 * A typed request between services. The subject derives from service and method, so it cannot drift; `Request` and
 * `Response` are JSON values.
 */
export interface Method<Request, Response> {
  readonly service: string;
  readonly name: string;
  readonly subject: string;
  readonly deadlineMs: number;
  /** Type carriers; never set. */
  readonly request?: Request;
  readonly response?: Response;
}

export function defineMethod<Request, Response>(
  service: string,
  name: string,
  deadlineMs = 10_000,
): Method<Request, Response> {
  return { service, name, subject: `engram.${service}.${name}`, deadlineMs };
}

/** A message to whoever listens. */
export interface Topic<Message> {
  readonly subject: (key: string) => string;
  readonly message?: Message;
}

export function defineTopic<Message>(prefix: string): Topic<Message> {
  return { subject: (key) => `engram.${prefix}.${key}` };
}
