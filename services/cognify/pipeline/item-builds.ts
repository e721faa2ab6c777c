import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';

/** Builds in flight in this process. Forgetting an item, in any process, stops them. */
export interface ItemBuilds {
  /** Runs `build` with a signal that is also aborted when the attempt cannot commit any more. */
  track<Result>(
    attempt: BuildAttempt,
    signal: AbortSignal,
    build: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  /** Stops the builds of these items in this process at once, without waiting for the next poll. */
  stop(items: readonly DataItemId[]): void;
}

interface BuildAttempt {
  readonly scope: DatasetScope;
  readonly item: DataItemId;
  readonly generation: number;
}

/** The item of the build was forgotten or reset, or another attempt has begun. */
export class BuildStoppedError extends Error {
  override readonly name = 'BuildStoppedError';
}

/** How often the ledger is read, once per dataset, while builds are in flight. */
const POLL_MS = 500;

interface Build {
  readonly attempt: BuildAttempt;
  readonly controller: AbortController;
}

export function createItemBuilds(ledger: Ledger): ItemBuilds {
  const builds = new Set<Build>();
  let timer: NodeJS.Timeout | null = null;
  const stop = ({ attempt, controller }: Build): void =>
    controller.abort(new BuildStoppedError(`item ${attempt.item} was forgotten`));
  const poll = async (): Promise<void> => {
    for (const group of Map.groupBy(builds, datasetOf).values()) {
      const [{ attempt: first }] = group as [Build];
      const items = group.map(({ attempt }) => attempt.item);
      // A failed read does not matter: the commit checks again.
      const entries = await ledger.entries(first.scope, items).catch(() => null);
      for (const build of group) {
        if (entries !== null && isOver(build.attempt, entries)) stop(build);
      }
    }
    schedule();
  };
  const schedule = (): void => {
    timer = builds.size === 0 ? null : setTimeout(poll, POLL_MS).unref();
  };
  return {
    async track(attempt, signal, work) {
      const build = { attempt, controller: new AbortController() };
      builds.add(build);
      if (timer === null) schedule();
      try {
        return await work(AbortSignal.any([signal, build.controller.signal]));
      } finally {
        builds.delete(build);
      }
    },
    stop(items) {
      const stopped = new Set(items);
      for (const build of builds) if (stopped.has(build.attempt.item)) stop(build);
    },
  };
}

function datasetOf({ attempt: { scope } }: Build): string {
  return `${scope.tenant}/${scope.dataset}`;
}

function isOver({ item, generation }: BuildAttempt, entries: Awaited<ReturnType<Ledger['entries']>>): boolean {
  const entry = entries.get(item);
  return entry === undefined || entry.erased || entry.lastGeneration !== generation;
}
