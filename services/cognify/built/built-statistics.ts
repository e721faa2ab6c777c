import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection, orderingKeyOf } from '../../common/platform/jobs/job-document.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import type { StoredRun } from '../../common/records/cognify/runs.ts';
import type { DataItems } from '../../common/records/ingest/data-items.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { CognifyDependencies } from '../dependencies.ts';

type Dependencies = Pick<CognifyDependencies, 'graph' | 'text' | 'runs' | 'store' | 'ledger'> & {
  readonly items: DataItems;
};

/** Counts what is built of a dataset (`cognify.BuiltStatistics` in proto/). The stores count by an index. */
export async function builtStatistics(
  dependencies: Dependencies,
  dataset: DatasetRef,
): Promise<AnswerOf<'cognify.BuiltStatistics'>> {
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
    chunks,
    nodes,
    edges,
    failed: await items.countWaiting(scope, ended.map(dataItemId)),
    pendingSince: await items.longestWait(scope, new Set(ended)),
    lastCognifiedAt: hasSucceeded ? newest.state.endedAt : await ledger.lastCommit(scope),
    writer,
    activeRun:
      active === undefined
        ? null
        : { id: active.state.id, pipeline: active.state.pipeline, startedAt: active.state.startedAt },
  };
}

/** Returns the items of the newest run that failed; some may have been built since. */
async function failedItems({ runs }: Dependencies, newest: StoredRun | undefined): Promise<readonly string[]> {
  const items = newest === undefined ? [] : await runs.items(newest);
  return items.filter(({ status }) => status === 'errored').map(({ item }) => item);
}

/** Returns the worker that holds the running job of an ordering key; null when there is none. */
async function runningJobOf(
  store: DocumentStore,
  tenant: TenantId,
  orderingKey: string,
): Promise<AnswerOf<'cognify.BuiltStatistics'>['writer']> {
  const where = { runningKey: orderingKeyOf(tenant, orderingKey) };
  const { items } = await store.find(SYSTEM_SCOPE, jobsCollection, { where, limit: 1 });
  const [job] = items;
  return job === undefined ? null : { holder: job.value.worker ?? '', fencingToken: job.value.fencingToken };
}
