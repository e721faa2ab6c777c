/** Something that must not overtake what shares a lane with it. */
export interface LaneTask {
  readonly lanes: ReadonlySet<string>;
}

export interface LanesOptions<Task> {
  /** Does the work of one group; it tells the callers itself and never throws. */
  run(group: readonly Task[]): Promise<void>;
  /** Whether the next one may go with those that are in the group already. */
  fits(group: readonly Task[], next: Task): boolean;
}

/**
 * Tasks of a lane run one group after the other, in the order they came; lanes that have no task in common run side by side.
 * What waits behind a busy lane goes together as its next group, so a rush costs few rounds.
 */
export function createLanes<Task extends LaneTask>({ run, fits }: LanesOptions<Task>): (task: Task) => void {
  const busy = new Set<string>();
  let waiting: Task[] = [];

  const take = (): readonly Task[] => {
    const closed = new Set(busy);
    const group: Task[] = [];
    waiting = waiting.filter((task) => {
      const isFree = closed.isDisjointFrom(task.lanes);
      if (isFree && (group.length === 0 || fits(group, task))) {
        group.push(task);
        return false;
      }
      // It keeps its place: nothing behind it may take these lanes first.
      for (const lane of task.lanes) closed.add(lane);
      return true;
    });
    return group;
  };
  const start = async (group: readonly Task[]): Promise<void> => {
    const lanes = group.flatMap((task) => [...task.lanes]);
    for (const lane of lanes) busy.add(lane);
    try {
      await run(group);
    } finally {
      for (const lane of lanes) busy.delete(lane);
      startAll();
    }
  };
  const startAll = (): void => {
    for (let group = take(); group.length > 0; group = take()) void start(group);
  };
  return (task) => {
    waiting.push(task);
    startAll();
  };
}
