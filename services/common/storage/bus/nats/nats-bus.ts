import { AsyncLocalStorage } from 'node:async_hooks';
import { engramError } from '../../../kernel/errors.ts';
import type { Bus, BusMessage, Subscription } from '../../ports/bus.ts';
import { createListener, type Listener, type OnListenerError } from '../rules/listener.ts';
import { createInFlight } from '../rules/responder.ts';
import { noResponder, tooLate, within } from '../rules/within-deadline.ts';
import { createAnswers } from './answers.ts';
import { createKeptTopics, type KeptTopics } from './kept-topics.ts';
import { type NatsLink, openLink } from './nats-link.ts';
import { inboxOf, type NatsBusOptions } from './nats-options.ts';
import { createRequests } from './requests.ts';
import { createResponders, drained } from './responders.ts';
import { createSubjectNames, type SubjectNames } from './subject-names.ts';
import { fromNatsHeaders, requireFits } from './wire-message.ts';

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
