export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** At most `limit` calls run; the others wait in order. */
export function createGate(limit: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    // A slot is handed on, never freed while somebody waits: nobody can slip in between.
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
