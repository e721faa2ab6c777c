/** A task that runs after the earlier ones that share a key with it. */
export interface KeyedTask {
  readonly keys: ReadonlySet<string>;
}

interface KeyedBatchesOptions<Task> {
  /** Does the work of one batch; it settles the callers itself and never throws. */
  run(batch: readonly Task[]): Promise<void>;
  /** Whether the next task may join the batch. */
  fits(batch: readonly Task[], next: Task): boolean;
}

/**
 * Runs tasks that share a key one batch after the other, in the order they came, and tasks without a common key side by
 * side. Tasks that wait for a busy key go together in its next batch, so that a burst costs few rounds.
 */
export function createKeyedBatches<Task extends KeyedTask>({
  run,
  fits,
}: KeyedBatchesOptions<Task>): (task: Task) => void {
  const busy = new Set<string>();
  let waiting: Task[] = [];

  const take = (): readonly Task[] => {
    const closed = new Set(busy);
    const batch: Task[] = [];
    waiting = waiting.filter((task) => {
      const isFree = closed.isDisjointFrom(task.keys);
      if (isFree && (batch.length === 0 || fits(batch, task))) {
        batch.push(task);
        return false;
      }
      // It keeps its place: no later task may take these keys first.
      for (const key of task.keys) closed.add(key);
      return true;
    });
    return batch;
  };
  const start = async (batch: readonly Task[]): Promise<void> => {
    const keys = batch.flatMap((task) => [...task.keys]);
    for (const key of keys) busy.add(key);
    try {
      await run(batch);
    } finally {
      for (const key of keys) busy.delete(key);
      startAll();
    }
  };
  const startAll = (): void => {
    for (let batch = take(); batch.length > 0; batch = take()) void start(batch);
  };
  return (task) => {
    waiting.push(task);
    startAll();
  };
}
