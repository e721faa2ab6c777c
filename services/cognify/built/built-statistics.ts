import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { BuiltStatistics } from '../../common/platform/messaging/methods/cognify-managed.ts';
import type { StoredRun } from '../../common/records/cognify/runs.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { runningJobOf } from '../runs/running-job.ts';

type Dependencies = Pick<CognifyDependencies, 'graph' | 'text' | 'runs' | 'store' | 'items' | 'ledger'>;

/** See `builtStatistics` in common/platform/messaging/methods/cognify-managed.ts. Everything is counted by the stores, by an index. */
export async function builtStatistics(dependencies: Dependencies, dataset: DatasetRef): Promise<BuiltStatistics> {
  const { graph, text, runs, store, items, ledger } = dependencies;
  const scope = scopeOf(dataset);
  const [{ nodes, edges }, chunks, [newest], [active], writer] = await Promise.all([
    graph.count(scope),
    text.count(scope, { kind: 'chunk' }),
    runs.newest([dataset], [COGNIFY_PIPELINE]),
    runs.unfinished(scope, { limit: 1 }),
    runningJobOf(store, dataset.tenant, dataset.id),
  ]);
  const ended = await failedItems(dependencies, newest);
  const hasSucceeded = newest?.state.status === 'DATASET_PROCESSING_COMPLETED';
  return {
    ...{ chunks, nodes, edges },
    failed: await items.countWaiting(scope, ended.map(dataItemId)),
    pendingSince: await items.longestWait(scope, new Set(ended)),
    lastCognifiedAt: hasSucceeded ? newest.state.endedAt : await ledger.lastCommit(scope),
    writer: writer === null ? null : { holder: writer.worker, fencingToken: writer.fencingToken },
    activeRun:
      active === undefined
        ? null
        : { id: active.state.id, pipeline: active.state.pipeline, startedAt: active.state.startedAt },
  };
}

/** Items of the newest run that ended in an error each; some may have been built since. */
async function failedItems({ runs }: Dependencies, newest: StoredRun | undefined): Promise<readonly string[]> {
  const items = newest === undefined ? [] : await runs.items(newest);
  return items.filter(({ status }) => status === 'errored').map(({ item }) => item);
}
