import type { DatasetRef } from '../../common/domain/dataset.ts';
import type { RunState } from '../../common/domain/run.ts';

/**
 * Flat for one pipeline, without the datasets that never ran it; nested for several, with every dataset
 * (ingest.md §5.7).
 */
export function presentStatuses<Leaf>(
  runs: readonly RunState[],
  { datasets, pipelines }: { readonly datasets: readonly DatasetRef[]; readonly pipelines: readonly string[] },
  leaf: (run: RunState) => Leaf,
): Readonly<Record<string, unknown>> {
  if (pipelines.length < 2) return Object.fromEntries(runs.map((run) => [run.dataset, leaf(run)]));
  const byPair = new Map(runs.map((run) => [`${run.dataset}/${run.pipeline}`, run]));
  return Object.fromEntries(
    datasets.map(({ id }) => {
      const own = pipelines.flatMap((pipeline) => {
        const run = byPair.get(`${id}/${pipeline}`);
        return run === undefined ? [] : [[pipeline, leaf(run)] as const];
      });
      return [id, Object.fromEntries(own)];
    }),
  );
}

export function presentProgress({ status, progress }: RunState): object {
  return {
    status,
    progress:
      progress === null
        ? null
        : {
            completed_items: progress.completedItems,
            total_items: progress.totalItems,
            current_stage: progress.currentStage,
          },
  };
}
