import { createInbox, type Msg, nuid } from 'nats';
import { engramError } from '../../../kernel/errors.ts';
import type { RequestOptions } from '../../ports/bus.ts';
import { noResponder, tooLate, within } from '../rules/within-deadline.ts';
import type { NatsLink } from './nats-link.ts';
import { type AnswerReader, CALL, createAnswerReader, DEADLINE, requireFits, toNatsHeaders } from './wire-message.ts';

interface Waiting {
  readonly subject: string;
  readonly name: string;
  readonly reader: AnswerReader;
  resolve(payload: Uint8Array): void;
  reject(error: unknown): void;
}

const NO_RESPONDERS = 503;

/** The asking side: one subscription takes the answers of all requests. */
export function createRequests(link: NatsLink, cancelSubject: (call: string) => string, inboxPrefix: string) {
  const { connection } = link;
  const inbox = createInbox(inboxPrefix);
  const waiting = new Map<string, Waiting>();
  connection.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (error === null) take(waiting, message);
    },
  });
  link.onRefusal((subject, operation) => {
    if (operation !== 'publish') return;
    for (const entry of waiting.values()) if (entry.subject === subject) entry.reject(refused(entry.name));
  });
  return {
    /** `subject` is that of the server, `name` that of the caller, for messages. */
    async send(subject: string, name: string, payload: Uint8Array, options: RequestOptions) {
      options.signal?.throwIfAborted();
      link.requireUp();
      requireFits(name, payload, link.maxMessageBytes());
      const call = nuid.next();
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      waiting.set(call, { subject, name, reader: createAnswerReader(name), resolve, reject });
      const headers = toNatsHeaders({ ...options.headers, [CALL]: call, [DEADLINE]: String(options.deadlineMs) });
      const ask = (signal: AbortSignal): Promise<Uint8Array> => {
        signal.addEventListener('abort', () => tellGone(link, cancelSubject(call)), { once: true });
        connection.publish(subject, payload, { headers, reply: `${inbox}.${call}` });
        return promise;
      };
      try {
        return await within(options, () => tooLate(name, options), ask);
      } finally {
        waiting.delete(call);
      }
    },
  };
}

function take(waiting: ReadonlyMap<string, Waiting>, message: Msg): void {
  const entry = waiting.get(message.subject.slice(message.subject.lastIndexOf('.') + 1));
  if (entry === undefined) return; // the answer came too late
  if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) {
    entry.reject(noResponder(entry.name));
    return;
  }
  try {
    const answer = entry.reader.take(message);
    if (answer !== null) entry.resolve(answer);
  } catch (error) {
    entry.reject(error);
  }
}

/** Tells the responder to stop. When the message is lost, it stops at the deadline. */
function tellGone(link: NatsLink, subject: string): void {
  try {
    link.requireUp();
    link.connection.publish(subject);
  } catch {
    // The deadline travelled with the request.
  }
}

function refused(name: string): Error {
  return engramError('ServiceUnavailableError', `The NATS user of this service may not ask ${name}`);
}
