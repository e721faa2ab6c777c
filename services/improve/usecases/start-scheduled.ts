import { scopeOf } from '../../common/domain/dataset.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/ports/document-store.ts';
import { IMPROVE_JOB, improveJob } from '../engine/improve-job.ts';
import type { ImproveParts, ImproveRequest } from '../engine/improve-passes.ts';
import type { ImproveResult } from '../engine/improve-result.ts';
import { described } from './improve-dataset.ts';

type Request = Omit<ImproveRequest, 'options' | 'context'>;

/**
 * All stages in the background, for one time of the schedule of a dataset: once, however often and by how many it is asked
 * for, and tried again when a stage fails. While an earlier one has not ended nothing is added to it. Durable when it resolves.
 */
export async function startScheduled(
  { scheduledStarts, clock, ids, logger, store, workQueue, tracer }: ImproveParts,
  { dataset, principal, sessionIds, dueAt }: Request & { readonly dueAt: string },
): Promise<ImproveResult> {
  const scope = scopeOf(dataset);
  const answer = {
    ...described({ dataset, sessionIds } as ImproveRequest),
    ...{ stages: [], rerunPasses: [], background: true, finished: false, failure: null, rerunRequested: false },
  };
  let isWaiting = false;
  for (;;) {
    const before = await scheduledStarts.get(scope, IMPROVE_JOB);
    if (before?.dueAt === dueAt) return answer;
    const id = ids.uuid();
    const order = { id, datasetId: dataset.id, sessionIds, options: null, isAutomatic: true, trace: tracer?.carried() };
    const asker = { id: principal.id, tenant: principal.tenant, keyId: principal.key?.id ?? null };
    const job = improveJob(order, asker, `${IMPROVE_JOB}:scheduled:${dataset.id}`);
    const start = { dueAt, claimedAt: clock.now().toISOString(), runId: isWaiting ? (before?.runId ?? null) : id };
    const noted = scheduledStarts.putWrite(IMPROVE_JOB, start, before);
    try {
      await store.commit(scope, [noted, ...(isWaiting ? [] : workQueue.enqueueWrites(scope, job).writes)]);
    } catch (error) {
      if (error instanceof DuplicateKeyError) isWaiting = error.index[0] !== 'id';
      else if (!(error instanceof VersionConflictError)) throw error;
      continue;
    }
    if (!isWaiting)
      void workQueue.wake(IMPROVE_JOB).catch((error: unknown) => logger.warn('improve.wake.failed', { error }));
    return answer;
  }
}
