import { AsyncLocalStorage } from 'node:async_hooks';
import type { Bus, BusMessage, Subscription } from '../../ports/bus.ts';
import { createListener, type Listener, type OnListenerError } from '../rules/listener.ts';
import { createInFlight, createResponder, leastBusy, type Responder } from '../rules/responder.ts';
import { createSubjectTable } from '../rules/subject-table.ts';
import { noResponder, tooLate, within } from '../rules/within-deadline.ts';

interface InProcessBusOptions {
  /** Called when a listener of `publish` fails, since its result is not awaited. Default: a process warning. */
  readonly onListenerError?: OnListenerError;
}

/**
 * Messages inside one process. Payloads are handed over without a copy: neither side may change them afterwards. Errors
 * of a responder arrive as they were thrown.
 */
export function createInProcessBus({ onListenerError }: InProcessBusOptions = {}): Bus {
  const responders = createSubjectTable<Responder>();
  const listeners = createSubjectTable<Listener>();
  const inFlight = createInFlight();
  // A request that a handler makes while it answers one is part of that one: draining lets both end.
  const insideHandler = new AsyncLocalStorage<true>();
  let draining = false;
  let closed = false;
  return {
    async request(subject, payload, requestOptions) {
      const responder =
        draining && insideHandler.getStore() !== true ? undefined : leastBusy(responders.match(subject));
      if (responder === undefined) throw noResponder(subject);
      requestOptions.signal?.throwIfAborted();
      const message: BusMessage = { subject, payload, headers: requestOptions.headers ?? {} };
      const call = (signal: AbortSignal) =>
        insideHandler.run(true, () => inFlight.track(responder.answer(message, signal)));
      return within(requestOptions, () => tooLate(subject, requestOptions), call);
    },
    async respond(subject, handler) {
      const responder = createResponder(handler);
      return subscription(responders.add(subject, responder), responder.idle);
    },
    async publish(subject, payload) {
      if (closed) return;
      for (const listener of listeners.match(subject)) listener.deliver({ subject, payload, headers: {} });
    },
    async subscribe(subject, receive) {
      const listener = createListener(receive, onListenerError);
      return subscription(listeners.add(subject, listener), listener.stop);
    },
    async drain() {
      draining = true;
      await inFlight.idle();
      closed = true;
      const open = listeners.clear();
      responders.clear();
      await Promise.all(open.map((listener) => listener.finish()));
    },
  };
}

function subscription(removeIt: () => void, ended: () => Promise<void>): Subscription {
  return {
    async stop() {
      removeIt();
      await ended();
    },
  };
}
