import { scopeOf } from '../../common/kernel/dataset.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { IMPROVE_JOB, improveJob } from '../engine/improve-job.ts';
import type { ImproveParts, ImproveRequest } from '../engine/improve-passes.ts';
import { described, type ImproveResult } from '../engine/improve-result.ts';

type Parts = Pick<ImproveParts, 'scheduledStarts' | 'ids' | 'logger' | 'store' | 'workQueue' | 'tracer'>;
type Request = Omit<ImproveRequest, 'options' | 'context'> & { readonly dueAt: string };

/**
 * All stages in the background, for one time of the schedule of a dataset: once, however often and by how many it is asked
 * for, and tried again when a stage fails. One that still waits does for this time too; one under way may have looked at what
 * is there already, so that this one comes after it. Durable when it resolves.
 */
export async function startScheduled(
  { scheduledStarts, ids, logger, store, workQueue, tracer }: Parts,
  { dataset, principal, sessionIds, dueAt }: Request,
): Promise<ImproveResult> {
  const scope = scopeOf(dataset);
  const answer = {
    ...described({ dataset, sessionIds }),
    ...{ stages: [], rerunPasses: [], background: true, finished: false, failure: null, rerunRequested: false },
  };
  const isCommitted = (writes: readonly Write[]): Promise<boolean> =>
    store.commit(scope, writes).then(
      () => true,
      (error: unknown) => {
        if (isWriteConflict(error)) return false;
        throw error;
      },
    );
  for (;;) {
    const before = await scheduledStarts.get(scope, IMPROVE_JOB);
    if (before?.dueAt === dueAt) return answer;
    const noted = (startedId: string) => scheduledStarts.putWrite(IMPROVE_JOB, { dueAt, startedId }, before);
    if (before !== null) {
      const { startedId } = before;
      if (await isCommitted([noted(startedId), ...workQueue.waitingWrites(startedId)])) return answer;
    }
    const details = { id: ids.uuid(), datasetId: dataset.id, sessionIds, options: null, isAutomatic: true };
    const asker = { id: principal.id, tenant: principal.tenant, keyId: principal.key?.id ?? null };
    const job = improveJob({ ...details, trace: tracer?.carried() }, asker);
    const { jobId, writes } = workQueue.enqueueWrites(scope, job);
    if (!(await isCommitted([noted(jobId), ...writes]))) continue;
    void workQueue.wake(IMPROVE_JOB).catch((error: unknown) => logger.warn('improve.wake.failed', { error }));
    return answer;
  }
}
