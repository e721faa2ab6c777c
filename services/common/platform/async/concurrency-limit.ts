/**
 * Runs the work when there is a slot. Waiting work with the lowest priority number goes first (default 0), in order of its
 * calls among equals.
 */
export type ConcurrencyLimit = <Result>(work: () => Promise<Result>, priority?: number) => Promise<Result>;

interface WaitingRoom {
  /** Calls that may wait. */
  readonly places: number;
  /** Creates the error of a call when the queue is full. */
  readonly refusal: () => Error;
}

/** Runs at most `limit` calls at a time; the others wait, without bound unless there is a waiting room. */
export function createConcurrencyLimit(limit: number, room?: WaitingRoom): ConcurrencyLimit {
  let running = 0;
  const waiting: { readonly priority: number; readonly enter: () => void }[] = [];
  return async (work, priority = 0) => {
    // A slot is passed on, never freed while callers wait: none can overtake them.
    if (running >= limit) {
      if (room !== undefined && waiting.length >= room.places) throw room.refusal();
      await new Promise<void>((enter) => {
        const place = waiting.findLastIndex((other) => other.priority <= priority) + 1;
        waiting.splice(place, 0, { priority, enter });
      });
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next.enter();
    }
  };
}
