import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId, idOfText } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { JobFailureRules } from '../../common/platform/jobs/job-failure.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import { type ClaimedJob, type NewJob, UNLIMITED_ATTEMPTS, type WorkQueue } from '../../common/ports/work-queue.ts';

/** Kind of the jobs that delete items, memory and datasets for good. */
export const DELETION_JOB = 'deletion';

/**
 * A dataset with its creation time, which tells it from one re-created under its id, and its owner, who gets the
 * refund.
 */
type DeletedDataset = Pick<DatasetRef, 'id' | 'tenant' | 'createdAt' | 'ownerId'>;

/** The part of a dataset that is deleted. */
export interface Deletion {
  /** Null: all of them, and without `memoryBefore` the dataset itself. */
  readonly items: readonly DataItemId[] | null;
  /** ISO-8601: deletes only what was built of them before, and keeps them. Null: deletes them. */
  readonly memoryBefore: string | null;
}

const MAX_FAILED_ATTEMPTS = 20;

/** Deletions are retried without a limit while a store or a service is unavailable: users see them half done. */
export const DELETION_FAILURES: JobFailureRules = {
  decide: (error, { attempt }) => (isTransient(error) || attempt < MAX_FAILED_ATTEMPTS ? 'retry' : 'dead'),
};

/** The job of a deletion; its id is the same for the same deletion. */
export function deletionJob({ id, tenant, createdAt, ownerId }: DeletedDataset, deletion: Deletion): NewJob {
  const { items, memoryBefore } = deletion;
  return {
    id: idOfText(JSON.stringify([DELETION_JOB, tenant, id, createdAt, items, memoryBefore])),
    kind: DELETION_JOB,
    payload: { datasetId: id, createdAt, ownerId, items: items === null ? null : [...items], memoryBefore },
    maxAttempts: UNLIMITED_ATTEMPTS,
  };
}

export function deletionOf({ scope, payload }: ClaimedJob): Deletion & { readonly dataset: DeletedDataset } {
  const { datasetId, createdAt, ownerId, items, memoryBefore } = payload;
  return {
    dataset: {
      id: asId(String(datasetId)),
      tenant: scope.tenant,
      createdAt: String(createdAt),
      ownerId: asId(String(ownerId)),
    },
    items: items === null ? null : (items as readonly DataItemId[]),
    memoryBefore: memoryBefore as string | null,
  };
}

/** Whether the deletion of the dataset itself is pending, from its first commit on. */
export function isBeingDeleted(workQueue: WorkQueue, dataset: DeletedDataset): Promise<boolean> {
  const { id = '' } = deletionJob(dataset, { items: null, memoryBefore: null });
  return workQueue.exists(SYSTEM_SCOPE, id);
}
