import { scopeOf } from '../../common/kernel/dataset.ts';
import { sha256OfJson } from '../../common/kernel/hashes.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import {
  ignoreDuplicate,
  ignoreWriteConflict,
  retryOnConflict,
} from '../../common/platform/async/retry-on-conflict.ts';
import { ownerOf } from '../../common/records/improve/improve-claims.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { holdClaim } from './held-claim.ts';
import { IMPROVE_JOB, improveJob, type JobAsker } from './improve-job.ts';
import { type ImproveParts, type ImproveRequest, keysOf, runPasses } from './improve-passes.ts';
import { described, type ImproveResult, lockHeld } from './improve-result.ts';
import { recordImprove } from './record-improve.ts';

/** Answers an improve whose dataset or one of whose sessions is claimed by another improve. */
type WhenLocked = (parts: ImproveParts, request: ImproveRequest, background: boolean) => Promise<ImproveResult>;

/**
 * Runs all stages now. Errors of stages are in the result; thrown are errors that keep the improve from starting or going on.
 * It goes on when the client disconnects.
 */
export async function improveDataset(
  parts: ImproveParts,
  request: ImproveRequest,
  whenLocked: WhenLocked = requestRerun,
): Promise<ImproveResult> {
  const id = parts.ids.uuid();
  const { dataset } = request;
  const context = { ...request.context, principal: request.principal };
  const recorded = { id, dataset, background: false, sessionIds: request.sessionIds, context };
  return recordImprove(parts, recorded, async (idleRuns) => {
    const held = await holdClaim(parts, keysOf(request), ownerOf(id, 0));
    if (held === null) return whenLocked(parts, request, false);
    const passes = await runPasses(parts, request, { held, stop: parts.stopping, idleRuns });
    return { ...described(request), ...passes, background: false, finished: true, rerunRequested: false };
  });
}

/** Starts all stages in the background. When it resolves the job is durable, and dataset and sessions are claimed. */
export async function startImprove(
  parts: ImproveParts,
  request: ImproveRequest,
  whenLocked: WhenLocked = requestRerun,
): Promise<ImproveResult> {
  const { claims, clock, ids, settings, store, workQueue, tracer } = parts;
  const { dataset, principal, sessionIds, options } = request;
  const id = ids.uuid();
  const keys = keysOf(request);
  const owner = ownerOf(id, 0);
  const lease = { nowMs: clock.now().getTime(), leaseMs: settings.leaseMs };
  if (!(await claims.claim(keys, owner, lease))) return whenLocked(parts, request, true);
  const order = { id, datasetId: dataset.id, sessionIds, options, isAutomatic: false, trace: tracer?.carried() };
  try {
    const scope = scopeOf(dataset);
    await store.commit(scope, workQueue.enqueueWrites(scope, improveJob(order, askerOf(principal))).writes);
  } catch (error) {
    await claims.release(keys, owner);
    throw error;
  }
  wakeWorkers(parts);
  return startedInBackground(request);
}

/**
 * Queues an improve whose dataset or one of whose sessions is claimed, as a job that runs when they are free; durable when it
 * resolves. Also requests one more pass of the improve that holds the sessions, so that new entries mostly do not wait; the
 * job then finds nothing new.
 */
async function requestRerun(parts: ImproveParts, request: ImproveRequest, background: boolean): Promise<ImproveResult> {
  const { claims, clock, ids, store, workQueue, tracer } = parts;
  const { dataset, principal, sessionIds, options } = request;
  const scope = scopeOf(dataset);
  const asker = askerOf(principal);
  const order = { datasetId: dataset.id, sessionIds: [...new Set(sessionIds)].toSorted(), options, isAutomatic: true };
  const digest = sha256OfJson([asker, order]);
  // Jobs of one dataset run one after the other: when both keys are taken, one of the two jobs has not started and covers
  // this request too.
  for (const place of ['first', 'second']) {
    const job = improveJob(
      { ...order, id: ids.uuid(), trace: tracer?.carried() },
      asker,
      `${IMPROVE_JOB}:rerun:${digest}:${place}`,
    );
    if (await ignoreDuplicate(store.commit(scope, workQueue.enqueueWrites(scope, job).writes))) break;
  }
  await claims.wantRerun(keysOf(request), clock.now().getTime());
  wakeWorkers(parts);
  return lockHeld(request, { background, rerunRequested: true });
}

/**
 * Starts the improve that the schedule of a dataset asks for at `dueAt`, in the background, at most once however often it is
 * called; it is retried when a stage fails. A job that still waits covers this time too; one that runs may have read the
 * dataset already, so another one follows it. Durable when it resolves.
 */
export async function startScheduled(
  parts: ImproveParts,
  { dataset, principal, sessionIds, dueAt }: Omit<ImproveRequest, 'options' | 'context'> & { readonly dueAt: string },
): Promise<ImproveResult> {
  const { scheduledStarts, ids, store, workQueue, tracer } = parts;
  const scope = scopeOf(dataset);
  const hasCommitted = (writes: readonly Write[]) => ignoreWriteConflict(store.commit(scope, writes));
  await retryOnConflict(async () => {
    const before = await scheduledStarts.get(scope, IMPROVE_JOB);
    if (before?.dueAt === dueAt) return;
    const startWrite = (startedId: string) => scheduledStarts.putWrite(IMPROVE_JOB, { dueAt, startedId }, before);
    if (before !== null) {
      const { startedId } = before;
      if (await hasCommitted([startWrite(startedId), ...workQueue.waitingWrites(startedId)])) return;
    }
    const order = { id: ids.uuid(), datasetId: dataset.id, sessionIds, options: null, isAutomatic: true };
    const job = improveJob({ ...order, trace: tracer?.carried() }, askerOf(principal));
    const { jobId, writes } = workQueue.enqueueWrites(scope, job);
    await store.commit(scope, [startWrite(jobId), ...writes]);
    wakeWorkers(parts);
  });
  return startedInBackground({ dataset, sessionIds });
}

function askerOf({ id, tenant, key }: Principal): JobAsker {
  return { id, tenant, keyId: key?.id ?? null };
}

function wakeWorkers({ workQueue, logger }: ImproveParts): void {
  void workQueue.wake(IMPROVE_JOB).catch((error: unknown) => logger.warn('improve.wake.failed', { error }));
}

function startedInBackground(request: Pick<ImproveRequest, 'dataset' | 'sessionIds'>): ImproveResult {
  return {
    ...described(request),
    stages: [],
    rerunPasses: [],
    background: true,
    finished: false,
    failure: null,
    rerunRequested: false,
  };
}
