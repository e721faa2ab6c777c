import { scopeOf } from '../../common/kernel/dataset.ts';
import { ownerOf } from '../../common/records/improve/improve-claims.ts';
import { IMPROVE_JOB, improveJob } from '../engine/improve-job.ts';
import { type ImproveParts, type ImproveRequest, keysOf } from '../engine/improve-passes.ts';
import { described, type ImproveResult } from '../engine/improve-result.ts';
import type { WhenLocked } from './improve-dataset.ts';
import { requestRerun } from './request-rerun.ts';

/** All stages, in the background: durable when it resolves, and whoever comes next finds dataset and sessions taken. */
export async function startImprove(
  parts: ImproveParts,
  request: ImproveRequest,
  whenLocked: WhenLocked = requestRerun,
): Promise<ImproveResult> {
  const { claims, clock, ids, logger, settings, store, workQueue, tracer } = parts;
  const { dataset, principal, sessionIds, options } = request;
  const id = ids.uuid();
  const keys = keysOf(request);
  const owner = ownerOf(id, 0);
  const lease = { nowMs: clock.now().getTime(), leaseMs: settings.leaseMs };
  if (!(await claims.claim(keys, owner, lease))) return whenLocked(parts, request, true);
  const order = { id, datasetId: dataset.id, sessionIds, options, isAutomatic: false, trace: tracer?.carried() };
  try {
    const scope = scopeOf(dataset);
    const asker = { id: principal.id, tenant: principal.tenant, keyId: principal.key?.id ?? null };
    await store.commit(scope, workQueue.enqueueWrites(scope, improveJob(order, asker)).writes);
  } catch (error) {
    await claims.release(keys, owner);
    throw error;
  }
  void workQueue.wake(IMPROVE_JOB).catch((error: unknown) => logger.warn('improve.wake.failed', { error }));
  return {
    ...described(request),
    ...{ stages: [], rerunPasses: [], background: true, finished: false, failure: null, rerunRequested: false },
  };
}
