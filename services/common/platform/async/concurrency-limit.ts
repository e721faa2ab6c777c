export type ConcurrencyLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface WaitingRoom {
  /** Calls that may wait. */
  readonly places: number;
  /** What a call is refused with when there is no place left. */
  readonly refusal: () => Error;
}

/** Runs at most `limit` calls at a time; the others wait in order, without bound unless there is a waiting room. */
export function createConcurrencyLimit(limit: number, room?: WaitingRoom): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    // A slot is handed on, never freed while somebody waits: nobody can slip in between.
    if (running >= limit) {
      if (room !== undefined && waiting.length >= room.places) throw room.refusal();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
