import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { StoredRun } from '../../common/records/cognify/runs.ts';

/**
 * Flat for one pipeline, without the datasets that never ran it; nested for several, with every dataset
 * (ingest.md §5.7).
 */
export function presentStatuses<Leaf>(
  runs: readonly StoredRun[],
  { datasets, pipelines }: { readonly datasets: readonly DatasetRef[]; readonly pipelines: readonly string[] },
  leaf: (run: StoredRun) => Leaf,
): Readonly<Record<string, unknown>> {
  if (pipelines.length < 2) return Object.fromEntries(runs.map((run) => [run.state.dataset, leaf(run)]));
  const byPair = new Map(runs.map((run) => [`${run.state.dataset}/${run.state.pipeline}`, run]));
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

/** `chunks` is there while items of many chunks are being built, `error` when the run failed. */
export function presentProgress({ state, chunks }: StoredRun): object {
  const { status, progress, errorClass, errorMessage } = state;
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
    ...(chunks === null ? {} : { chunks }),
    ...(errorClass === null ? {} : { error: `${errorMessage ?? ''} [${errorClass}]`.trimStart() }),
  };
}
