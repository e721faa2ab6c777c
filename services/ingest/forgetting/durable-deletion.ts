import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { ignoreConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { isQueuedAlready } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import type { JobHandler } from '../../common/platform/jobs/job-worker.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { ForgettingCounts } from '../model.ts';
import { DELETION_FAILURES, type Deletion, deletionJob, deletionOf } from './deletion-job.ts';
import { forgetDataset, forgetItems, forgetMemory, removeLate } from './forget.ts';
import { impersonateOwner } from './impersonate-owner.ts';

/**
 * Deletes the items. When this process dies or fails, the queue goes on: from the first commit on they are never
 * reported as stored. Everything is deleted when it resolves. Errors: those of `forgetItems`.
 */
export function deleteItemsDurably(
  deps: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[],
  context: CallContext,
  counts?: ForgettingCounts,
): Promise<void> {
  const deletion = { items: [...new Set(ids)], memoryBefore: null };
  return durably(deps, dataset, deletion, () => forgetItems(deps, dataset, ids, context, counts));
}

/**
 * Deletes a dataset the same way: from the first commit on nothing can be added to it. Errors: those of
 * `forgetDataset`.
 */
export function deleteDatasetDurably(
  deps: IngestDependencies,
  dataset: DatasetRef,
  context: CallContext,
  counts?: ForgettingCounts,
): Promise<void> {
  const deletion = { items: null, memoryBefore: null };
  return durably(deps, dataset, deletion, () => forgetDataset(deps, dataset, context, counts));
}

/** Deletes what was built of the items the same way; null: of the whole dataset. Returns the number of reset items. */
export function deleteMemoryDurably(
  deps: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[] | null,
  context: CallContext,
  counts?: ForgettingCounts,
): Promise<number> {
  const deletion = { items: ids, memoryBefore: deps.clock.now().toISOString() };
  return durably(deps, dataset, deletion, () => forgetMemory(deps, dataset, ids, context, counts));
}

/** Does the work as the first attempt of a job. Two concurrent deletions of the same do no harm. */
async function durably<Result>(
  deps: IngestDependencies,
  dataset: DatasetRef,
  deletion: Deletion,
  work: () => Promise<Result>,
): Promise<Result> {
  const { jobs, store, items } = deps;
  const scope = scopeOf(dataset);
  const job = deletionJob(dataset, deletion);
  const hidden = deletion.memoryBefore === null ? (deletion.items ?? []) : [];
  const writes = hidden.map((id) => items.forgetWrite(id));
  const outcome = Promise.withResolvers<Result>();
  outcome.promise.catch(() => {});
  const handler: JobHandler = {
    async drive(claimed) {
      try {
        const result = await work();
        await complete(deps, claimed);
        outcome.resolve(result);
      } catch (error) {
        outcome.reject(error);
        throw error;
      }
    },
    failures: DELETION_FAILURES,
  };
  try {
    await jobs.begin(scope, job, handler, writes);
    return await outcome.promise;
  } catch (error) {
    if (!isQueuedAlready(error)) throw error;
  }
  // An earlier attempt is pending: this one takes it over, unless a worker holds it.
  if (writes.length > 0) await store.commit(scope, writes);
  return (await jobs.run(job.id ?? '', handler)) ? outcome.promise : work();
}

/** Completes the job, unless another worker has it: that one finds nothing left. */
async function complete({ store, workQueue }: IngestDependencies, job: ClaimedJob): Promise<void> {
  await ignoreConflict(store.commit(job.scope, workQueue.completeWrites(job)));
}

/**
 * Completes a deletion that another process began, or that failed, as the dataset's owner: the user who asked for it
 * may have lost the permission since.
 */
export async function resumeDeletion(deps: IngestDependencies, job: ClaimedJob, { signal }: JobLease): Promise<void> {
  await deleteAgain(deps, job, signal);
  await complete(deps, job);
}

async function deleteAgain(deps: IngestDependencies, job: ClaimedJob, signal: AbortSignal): Promise<void> {
  const { dataset: deleted, items, memoryBefore } = deletionOf(job);
  const dataset = await deps.datasets.get(scopeOf(deleted), deleted.id);
  // Nothing refers to the dataset any more, but something may have been written since the last check.
  if (dataset === null && memoryBefore !== null) return;
  if (dataset === null) return removeLate(deps, { ...deleted, name: '', updatedAt: null });
  if (dataset.createdAt !== deleted.createdAt) return;
  const owner = await impersonateOwner(deps, dataset, signal);
  if (owner === null) throw new Error('the dataset was removed meanwhile');
  if (memoryBefore !== null) {
    const ids = await builtBefore(deps, dataset, items, memoryBefore);
    if (ids === null || ids.length > 0) await forgetMemory(deps, dataset, ids, owner);
    return;
  }
  await (items === null ? forgetDataset(deps, dataset, owner) : forgetItems(deps, dataset, items, owner));
}

/** Returns the items that were not built again since: newer memory stays. Null: the whole dataset. */
async function builtBefore(
  { ledger }: IngestDependencies,
  dataset: DatasetRef,
  items: readonly DataItemId[] | null,
  before: string,
): Promise<readonly DataItemId[] | null> {
  const entries = await ledger.allEntries(scopeOf(dataset));
  const isNew = (item: DataItemId) => (entries.get(item)?.committedAt ?? '') > before;
  const ids = items ?? [...entries.keys()];
  return items === null && !ids.some(isNew) ? null : ids.filter((item) => !isNew(item));
}
