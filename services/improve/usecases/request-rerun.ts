import { hash } from 'node:crypto';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { IMPROVE_JOB, improveJob } from '../engine/improve-job.ts';
import { type ImproveParts, type ImproveRequest, keysOf } from '../engine/improve-passes.ts';
import { type ImproveResult, lockHeld } from '../engine/improve-result.ts';

type Parts = Pick<ImproveParts, 'claims' | 'clock' | 'ids' | 'logger' | 'store' | 'workQueue' | 'tracer'>;

/**
 * Keeps an improve that found its dataset or one of its sessions taken as a job, which runs when they are free. Durable
 * when it resolves. The holder of the sessions is also asked for one more pass, so that what came meanwhile mostly does
 * not wait; the job then finds nothing new.
 */
export async function requestRerun(parts: Parts, request: ImproveRequest, background: boolean): Promise<ImproveResult> {
  const { claims, clock, ids, logger, store, workQueue, tracer } = parts;
  const { dataset, principal, sessionIds, options } = request;
  const scope = scopeOf(dataset);
  const asker = { id: principal.id, tenant: principal.tenant, keyId: principal.key?.id ?? null };
  const order = { datasetId: dataset.id, sessionIds: [...new Set(sessionIds)].toSorted(), options, isAutomatic: true };
  const digest = hash('sha256', JSON.stringify([asker, order]));
  // Jobs of one dataset run one after the other: when both keys are taken, one of the two has not begun and does for this
  // request too.
  for (const place of ['first', 'second']) {
    const job = improveJob(
      { ...order, id: ids.uuid(), trace: tracer?.carried() },
      asker,
      `${IMPROVE_JOB}:rerun:${digest}:${place}`,
    );
    try {
      await store.commit(scope, workQueue.enqueueWrites(scope, job).writes);
      break;
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
    }
  }
  await claims.wantRerun(keysOf(request), clock.now().getTime());
  void workQueue.wake(IMPROVE_JOB).catch((error: unknown) => logger.warn('improve.wake.failed', { error }));
  return lockHeld(request, { background, rerunRequested: true });
}
