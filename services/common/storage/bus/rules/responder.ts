import type { BusHandler, BusMessage } from '../../ports/bus.ts';

/** A handler of requests with its requests in flight. */
export type Responder = ReturnType<typeof createResponder>;

export function createResponder(handler: BusHandler) {
  const { count, track, idle } = createInFlight();
  return {
    busy: count,
    answer: (message: BusMessage, signal: AbortSignal) => track(Promise.resolve().then(() => handler(message, signal))),
    idle,
  };
}

export function createInFlight() {
  const running = new Set<Promise<unknown>>();
  return {
    count: () => running.size,
    track<T>(work: Promise<T>): Promise<T> {
      running.add(work);
      const forget = () => running.delete(work);
      work.then(forget, forget);
      return work;
    },
    /** Resolves when nothing is in flight. */
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

export function leastBusy(responders: readonly Responder[]): Responder | undefined {
  let best = responders[0];
  for (const responder of responders) {
    if (best !== undefined && responder.busy() < best.busy()) best = responder;
  }
  return best;
}
