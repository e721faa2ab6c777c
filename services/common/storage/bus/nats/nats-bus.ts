import { AsyncLocalStorage } from 'node:async_hooks';
import { createInbox, type Msg, type Subscription as NatsSubscription, nuid } from 'nats';
import { engramError } from '../../../kernel/errors.ts';
import type { Bus, BusHandler, BusMessage, RequestOptions, Subscription } from '../../ports/bus.ts';
import { createListener, type Listener, type OnListenerError } from '../rules/listener.ts';
import { createInFlight, createResponder, leastBusy, type Responder } from '../rules/responder.ts';
import { noResponder, tooLate, within } from '../rules/within-deadline.ts';
import { type AnswerRequest, createAnswers } from './answers.ts';
import { createKeptTopics, type KeptTopics } from './kept-topics.ts';
import { type NatsLink, openLink } from './nats-link.ts';
import { inboxOf, type NatsBusOptions } from './nats-options.ts';
import { createSubjectNames, type SubjectNames } from './subject-names.ts';
import {
  type AnswerReader,
  CALL,
  createAnswerReader,
  DEADLINE,
  fromNatsHeaders,
  requireFits,
  toNatsHeaders,
} from './wire-message.ts';

export interface NatsBus extends Bus {
  /** Asks the server; `ServiceUnavailableError` when it is away. */
  check(): Promise<void>;
}

export type { NatsBusOptions } from './nats-options.ts';

/**
 * Messages over NATS, kept ones over JetStream. Throws `ServiceUnavailableError` with a clear message when the server cannot
 * be reached, refuses the credentials, is too old, or has no JetStream although something is to be kept.
 *
 * While the connection is lost, requests and publications fail at once and are retryable; it reconnects for ever, and what
 * was subscribed goes on. A request that another process of the same service could take is not sent again.
 */
export async function openNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const link = await openLink(options);
  const names = createSubjectNames(options.prefix ?? 'engram');
  const inFlight = createInFlight();
  // A request that a handler makes while it answers one is part of that one: draining lets both end.
  const insideHandler = new AsyncLocalStorage<true>();
  let draining = false;
  let closed = false;
  const requests = createRequests(link, names.cancel, inboxOf(options));
  const answer = createAnswers({
    link,
    cancelSubject: names.cancel,
    track: (work) => insideHandler.run(true, () => inFlight.track(work())),
  });
  const responders = createResponders(link, answer);
  const kept = await createKeptTopics(options, link, names).catch(async (error: unknown) => {
    await link.close();
    throw error;
  });
  const listeners = createListeners(link, names, kept, options.onListenerError);

  return {
    async request(subject, payload, requestOptions) {
      if (closed || (draining && insideHandler.getStore() !== true)) throw noResponder(subject);
      const local = draining ? responders.local(names.toServer(subject)) : undefined;
      if (local === undefined)
        return inFlight.track(requests.send(names.toServer(subject), subject, payload, requestOptions));
      const message: BusMessage = { subject, payload, headers: requestOptions.headers ?? {} };
      const late = () => tooLate(subject, requestOptions);
      return within(requestOptions, late, (signal) => local.answer(message, signal));
    },
    async respond(subject, handler) {
      if (draining) throw stopping();
      link.requireUp();
      return responders.add(names.toServer(subject), subject, handler);
    },
    async publish(subject, payload) {
      if (closed) return;
      const stream = kept.streamOf(subject);
      if (stream !== undefined) return kept.publish(stream, subject, payload);
      link.requireUp();
      requireFits(subject, payload, link.maxMessageBytes());
      link.connection.publish(names.toServer(subject), payload);
    },
    async subscribe(...subscription) {
      if (draining) throw stopping();
      return listeners.add(...subscription);
    },
    async drain() {
      if (closed) return;
      draining = true;
      await responders.close();
      await inFlight.idle();
      closed = true;
      await kept.caughtUp();
      await listeners.finish();
      await kept.close();
      await link.flushed().catch(() => {});
      await link.close();
    },
    check: () => link.flushed(),
  };
}

function stopping(): Error {
  return engramError('ServiceUnavailableError', 'The bus is stopping', { retryable: true });
}

/** The hearing side of `publish`. */
function createListeners(link: NatsLink, names: SubjectNames, kept: KeptTopics, onError: OnListenerError | undefined) {
  /** Listener → what ends its source. */
  const open = new Map<Listener, () => Promise<void>>();

  /** From the server directly: at most once. */
  const hear = async (subject: string, listener: Listener): Promise<() => Promise<void>> => {
    link.requireUp();
    let isRefused = false;
    const subscription = link.connection.subscribe(names.toServer(subject), {
      callback(error, message) {
        if (error !== null) isRefused = true;
        else {
          const { subject: from, data, headers } = message;
          listener.deliver({ subject: names.fromServer(from), payload: data, headers: fromNatsHeaders(headers) });
        }
      },
    });
    const end = () => drained(link, subscription);
    try {
      await link.flushed();
    } catch (error) {
      await end();
      throw error;
    }
    if (!isRefused) return end;
    throw engramError('ServiceUnavailableError', `The NATS user of this service may not hear ${subject}`);
  };
  return {
    async add(...[subject, receive]: Parameters<Bus['subscribe']>): Promise<Subscription> {
      const listener = createListener(receive, onError);
      const stream = kept.streamOf(subject);
      const end = stream === undefined ? await hear(subject, listener) : await kept.follow(stream, subject, listener);
      open.set(listener, end);
      return {
        async stop() {
          if (!open.delete(listener)) return;
          await end();
          await listener.stop();
        },
      };
    },
    /** Resolves when everything that came so far was heard; nothing more comes. */
    async finish() {
      const all = [...open];
      open.clear();
      await Promise.all(all.map(([, end]) => end()));
      await Promise.all(all.map(([listener]) => listener.finish()));
    },
  };
}

interface Waiting {
  readonly subject: string;
  readonly name: string;
  readonly reader: AnswerReader;
  resolve(payload: Uint8Array): void;
  reject(error: unknown): void;
}

const NO_RESPONDERS = 503;

/** The asking side: one subscription takes the answers of all requests. */
function createRequests(link: NatsLink, cancelSubject: (call: string) => string, inboxPrefix: string) {
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

/** One queue group for all processes: the server gives each request to one of them. */
const GROUP = 'responders';

interface Served {
  readonly subscription: NatsSubscription;
  readonly responders: Responder[];
  /** The server refuses the subscription. */
  isRefused: boolean;
}

/** The answering side. */
function createResponders(link: NatsLink, answer: AnswerRequest) {
  const served = new Map<string, Served>();
  const open = (subject: string, name: string): Served => {
    const responders: Responder[] = [];
    const entry: Omit<Served, 'subscription'> = { responders, isRefused: false };
    const subscription = link.connection.subscribe(subject, {
      queue: GROUP,
      callback(error, message) {
        if (error !== null) entry.isRefused = true;
        // The connection was lost meanwhile: the caller's deadline ends the request.
        else answer(message, name, responders).catch(() => {});
      },
    });
    const opened: Served = Object.assign(entry, { subscription });
    served.set(subject, opened);
    return opened;
  };
  const remove = async (subject: string, entry: Served, responder: Responder): Promise<void> => {
    const isLast = entry.responders.length === 1 && entry.responders[0] === responder;
    if (isLast) {
      if (served.get(subject) === entry) served.delete(subject);
      await drained(link, entry.subscription);
    }
    const at = entry.responders.indexOf(responder);
    if (at >= 0) entry.responders.splice(at, 1);
  };
  return {
    async add(subject: string, name: string, handler: BusHandler) {
      const responder = createResponder(handler);
      const entry = served.get(subject) ?? open(subject, name);
      entry.responders.push(responder);
      try {
        await link.flushed();
        if (entry.isRefused) {
          throw engramError('ServiceUnavailableError', `The NATS user of this service may not answer ${name}`);
        }
      } catch (error) {
        await remove(subject, entry, responder);
        throw error;
      }
      return {
        async stop() {
          await remove(subject, entry, responder);
          await responder.idle();
        },
      };
    },
    /** The one of this process, to be asked without the server; undefined when there is none. */
    local: (subject: string) => leastBusy(served.get(subject)?.responders ?? []),
    /** Takes no further requests; those in flight go on. */
    async close() {
      await Promise.all([...served.values()].map(({ subscription }) => drained(link, subscription)));
    },
  };
}

/** Everything that the server sent before it heard of the end is delivered. */
async function drained(link: NatsLink, subscription: NatsSubscription): Promise<void> {
  try {
    link.requireUp();
    const isOver = subscription.isClosed() || link.connection.isClosed();
    if (!isOver) await Promise.all([subscription.drain(), link.flushed()]);
  } catch {
    subscription.unsubscribe(); // the connection is lost: nothing more comes
  }
}
