/** Lets a limited number of things happen at the same time; of those that wait, the lowest priority number goes first. */
export interface PriorityGate {
  run<Result>(priority: number, work: () => Promise<Result>): Promise<Result>;
}

export function createPriorityGate(limit: number): PriorityGate {
  const waiting: { readonly priority: number; readonly enter: () => void }[] = [];
  let running = 0;
  const leave = (): void => {
    running -= 1;
    let next = 0;
    for (const [index, { priority }] of waiting.entries()) {
      if (priority < (waiting[next]?.priority ?? Number.POSITIVE_INFINITY)) next = index;
    }
    const [chosen] = waiting.splice(next, 1);
    if (chosen === undefined) return;
    running += 1;
    chosen.enter();
  };
  return {
    async run(priority, work) {
      if (running < limit) running += 1;
      else await new Promise<void>((enter) => waiting.push({ priority, enter }));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
