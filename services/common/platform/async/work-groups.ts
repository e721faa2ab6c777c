interface WorkGroups<Work, Result> {
  /** Does several at once, all or nothing; one result for each, in order. */
  readonly together: (group: readonly Work[]) => Promise<readonly Result[]>;
  /** True when each of a group would fail like this alone: none is tried again then. */
  readonly concernsAll: (error: unknown) => boolean;
  /** Awaited before the first group of an idle queue: what is added meanwhile goes with it. */
  readonly gather?: () => Promise<unknown>;
  /** Whether work may be in the group that another began; default: any may. */
  readonly goTogether?: (first: Work, next: Work) => boolean;
  readonly maxCount: number;
  /** Limit of the sizes of a group; larger items go alone. */
  readonly maxSize: number;
  readonly sizeOf: (work: Work) => number;
}

interface Waiting<Work, Result> {
  readonly work: Work;
  readonly outcome: PromiseWithResolvers<Result>;
}

/**
 * Groups work that has to be done one after the other: calls that wait go together. When one of a group fails
 * each goes alone, so that none fails for another one's sake.
 */
export function createWorkGroups<Work, Result>(groups: WorkGroups<Work, Result>): (work: Work) => Promise<Result> {
  const queue: Waiting<Work, Result>[] = [];
  let isBusy = false;

  const runGroup = async (group: readonly Waiting<Work, Result>[]): Promise<void> => {
    try {
      const results = await groups.together(group.map(({ work }) => work));
      for (const [index, { outcome }] of group.entries()) outcome.resolve(results[index] as Result);
    } catch (error) {
      if (group.length > 1 && !groups.concernsAll(error)) for (const each of group) await runGroup([each]);
      else for (const { outcome } of group) outcome.reject(error);
    }
  };
  const takeGroup = (): readonly Waiting<Work, Result>[] => {
    const [first] = queue;
    let size = 0;
    let count = 0;
    for (const { work } of queue) {
      size += groups.sizeOf(work);
      if (count > 0 && (count === groups.maxCount || size > groups.maxSize)) break;
      if (first !== undefined && groups.goTogether?.(first.work, work) === false) break;
      count += 1;
    }
    return queue.splice(0, count);
  };
  const drain = async (): Promise<void> => {
    isBusy = true;
    if (groups.gather !== undefined) await groups.gather();
    while (queue.length > 0) await runGroup(takeGroup());
    isBusy = false;
  };
  return (work) => {
    const outcome = Promise.withResolvers<Result>();
    queue.push({ work, outcome });
    if (!isBusy) void drain();
    return outcome.promise;
  };
}
