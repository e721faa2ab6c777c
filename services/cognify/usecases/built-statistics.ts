import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { BuiltStatistics } from '../../common/messaging/methods/cognify-managed.ts';
import { runningJobOf } from '../../common/runs/running-job.ts';
import type { CognifyDependencies } from '../dependencies.ts';

type Dependencies = Pick<CognifyDependencies, 'graph' | 'runs' | 'store'>;

/** See `builtStatistics` in common/messaging/methods/cognify-managed.ts. */
export async function builtStatistics(
  { graph, runs, store }: Dependencies,
  dataset: DatasetRef,
): Promise<BuiltStatistics> {
  const scope = scopeOf(dataset);
  const [{ nodes, edges }, [newest], [active], writer] = await Promise.all([
    graph.count(scope),
    runs.newest([dataset], [COGNIFY_PIPELINE]),
    runs.unfinished(scope, { limit: 1 }),
    runningJobOf(store, dataset.tenant, dataset.id),
  ]);
  const items = newest === undefined ? [] : await runs.items(newest);
  const hasSucceeded = newest?.state.status === 'DATASET_PROCESSING_COMPLETED';
  return {
    ...{ nodes, edges },
    failedItems: items.filter(({ status }) => status === 'errored').map(({ item }) => item),
    completedAt: hasSucceeded ? newest.state.endedAt : null,
    writer: writer === null ? null : { holder: writer.worker, fencingToken: writer.fencingToken },
    activeRun:
      active === undefined
        ? null
        : { id: active.state.id, pipeline: active.state.pipeline, startedAt: active.state.startedAt },
  };
}
