import { AsyncLocalStorage } from 'node:async_hooks';
import type { Bus, BusMessage, Subscription } from '../../ports/bus.ts';
import { createListener, type Listener } from '../rules/listener.ts';
import { createResponder, leastBusy, type Responder } from '../rules/responder.ts';
import { createSubjectTable } from '../rules/subject-table.ts';
import { noResponder, tooLate, within } from '../rules/within-deadline.ts';

interface InProcessBusOptions {
  /** Called when a listener of `publish` fails, since its result is not awaited. Default: a process warning. */
  readonly onListenerError?: (error: unknown, subject: string) => void;
}

/**
 * Messages inside one process. Payloads are handed over without a copy: neither side may change them afterwards. Errors
 * of a responder arrive as they were thrown.
 */
export function createInProcessBus(options: InProcessBusOptions = {}): Bus {
  const onListenerError = options.onListenerError ?? warn;
  const responders = createSubjectTable<Responder>();
  const listeners = createSubjectTable<Listener>();
  const inFlight = new Set<Promise<unknown>>();
  // A request that a handler makes while it answers one is part of that one: draining lets both end.
  const insideHandler = new AsyncLocalStorage<true>();
  const turns = new Map<string, number>();
  let draining = false;
  let closed = false;

  const track = <T>(work: Promise<T>): Promise<T> => {
    inFlight.add(work);
    const forget = () => inFlight.delete(work);
    work.then(forget, forget);
    return work;
  };
  return {
    async request(subject, payload, requestOptions) {
      const responder =
        draining && insideHandler.getStore() !== true ? undefined : leastBusy(responders.match(subject));
      if (responder === undefined) throw noResponder(subject);
      requestOptions.signal?.throwIfAborted();
      const message: BusMessage = { subject, payload, headers: requestOptions.headers ?? {} };
      const call = (signal: AbortSignal) => insideHandler.run(true, () => track(responder.answer(message, signal)));
      return within(requestOptions, () => tooLate(subject, requestOptions), call);
    },
    async respond(subject, handler) {
      const responder = createResponder(handler);
      const removeIt = responders.add(subject, responder);
      return subscription(removeIt, responder.idle);
    },
    async publish(subject, payload, headers = {}) {
      if (closed) return;
      for (const listener of choose(listeners.match(subject), turns)) listener.deliver({ subject, payload, headers });
    },
    async subscribe(subject, receive, subscribeOptions = {}) {
      const queue = subscribeOptions.queue === undefined ? null : `${subscribeOptions.queue} ${subject}`;
      const listener = createListener(receive, queue, onListenerError);
      return subscription(listeners.add(subject, listener), listener.stop);
    },
    async drain() {
      draining = true;
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
      closed = true;
      const open = listeners.clear();
      responders.clear();
      await Promise.all(open.map((listener) => listener.finish()));
    },
  };
}

/** Everybody without a queue group, and of each group the member whose turn it is. */
function choose(listeners: readonly Listener[], turns: Map<string, number>): readonly Listener[] {
  const groups = new Map<string, Listener[]>();
  const chosen: Listener[] = [];
  for (const listener of listeners) {
    if (listener.queue === null) chosen.push(listener);
    else groups.set(listener.queue, [...(groups.get(listener.queue) ?? []), listener]);
  }
  for (const [queue, members] of groups) {
    const turn = turns.get(queue) ?? 0;
    turns.set(queue, turn + 1);
    const member = members[turn % members.length];
    if (member !== undefined) chosen.push(member);
  }
  return chosen;
}

function subscription(removeIt: () => void, ended: () => Promise<void>): Subscription {
  return {
    async stop() {
      removeIt();
      await ended();
    },
  };
}

function warn(error: unknown, subject: string): void {
  process.emitWarning(`listener of ${subject} failed: ${error instanceof Error ? error.stack : String(error)}`);
}
