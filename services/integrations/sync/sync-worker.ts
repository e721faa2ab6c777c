import { setTimeout as sleep } from 'node:timers/promises';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker, type JobWorker } from '../../common/platform/jobs/job-worker.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import { NO_TRACER, type TraceRoot } from '../../common/ports/tracer.ts';
import { type ClaimedJob, LeaseLostError, type NewJob, UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { hasEnded, type SyncRun, type SyncStatus } from '../../common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../../common/records/integrations/sync-state.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { carryOutSync } from './carry-out-sync.ts';
import { openSyncRecord, type SyncRecord } from './sync-record.ts';

export const SYNC_JOB = 'sync';

/**
 * The job of a sync run. Its worker counts the attempts and ends the run: a dead letter would keep its user from ever syncing
 * again.
 */
export function syncJob({ id }: Pick<SyncRun, 'id'>): NewJob {
  return { kind: SYNC_JOB, payload: { runId: id }, idempotencyKey: id, maxAttempts: UNLIMITED_ATTEMPTS };
}

/** Drives queued syncs. At its stop they go on in another process, or with the next start. */
export function createSyncWorker(dependencies: SyncDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'sync',
    handlers: {
      [SYNC_JOB]: {
        drive: (job, lease) => driveSync(dependencies, job, lease),
        // The driver records every end of a sync; an error here kept it from that.
        failures: { decide: () => 'retry' },
      },
    },
    settings: dependencies.settings,
  });
}

/** Claims of one sync until it counts as killing its workers. Hand-overs do not count. */
const MAX_CLAIMS = 20;

/** Takes a claimed job to the end of its run. Throws what kept the end from being recorded. */
async function driveSync(dependencies: SyncDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { runs, store, workQueue, logger, tracer = NO_TRACER } = dependencies;
  const { runId } = job.payload;
  const run = typeof runId === 'string' ? await runs.get(runId) : null;
  // It was removed with its user, or it ended with a commit whose answer was lost.
  if (run === null || hasEnded(run.status)) {
    await store.commit(job.scope, workQueue.completeWrites(job));
    return;
  }
  logger.info('sync.claimed', { runId: run.id, attempt: job.attempt, datasets: run.datasetIds.length });
  const record = openSyncRecord(dependencies, job, run);
  try {
    const end = await tracer.root(rootOf(run, job), async (describe) => {
      const outcome = await outcomeOf(dependencies, { run, record, job, lease });
      describe({ attributes: { status: outcome.status }, failed: outcome.status === 'failed' });
      return outcome;
    });
    await eraseStateOfDeleted(dependencies, run);
    await record.end(end.status, end.error);
  } catch (error) {
    if ((await runs.get(run.id)) !== null) throw error;
    // It was removed with its user, perhaps together with the datasets.
    await eraseStateOfDeleted(dependencies, run);
    await store.commit(job.scope, workQueue.completeWrites(job));
  }
}

function rootOf({ id, userId: user, tenant, datasetIds }: SyncRun, { attempt }: ClaimedJob): TraceRoot {
  const attributes = { run_id: id, datasets: datasetIds.length, attempt };
  return { name: 'run sync', owner: { user, tenant }, attributes };
}

/** Erases the sync state that was recorded for a dataset while that was being deleted. */
async function eraseStateOfDeleted(
  { datasets, store }: SyncDependencies,
  { tenant, datasetIds }: SyncRun,
): Promise<void> {
  for (const dataset of datasetIds) {
    if ((await datasets.get({ tenant }, dataset)) !== null) continue;
    await eraseCollections(store, { tenant, dataset }, syncStateCollections);
  }
}

interface DrivenSync {
  readonly run: SyncRun;
  readonly record: SyncRecord;
  readonly job: ClaimedJob;
  readonly lease: JobLease;
}

interface SyncEnd {
  readonly status: SyncStatus;
  readonly error: string | null;
}

/** Throws when the run does not end here: handed over, lost, or when its end cannot be recorded. */
async function outcomeOf(dependencies: SyncDependencies, { run, record, job, lease }: DrivenSync): Promise<SyncEnd> {
  const { logger, settings } = dependencies;
  if (job.attempt > MAX_CLAIMS) return { status: 'failed', error: `it was begun ${MAX_CLAIMS} times` };
  for (;;) {
    try {
      lease.signal.throwIfAborted();
      await carryOutSync(dependencies, record, lease.signal);
      return { status: 'completed', error: null };
    } catch (error) {
      const fault: unknown = lease.signal.aborted ? lease.signal.reason : error;
      if (isCancelled(fault)) return { status: 'cancelled', error: null };
      if (lease.signal.aborted || error instanceof LeaseLostError) throw error;
      const { errorClass, message } = describeRunError(error);
      const attempts = record.retries + 1;
      const known = isEngramError(error) ? { reason: `${errorClass}: ${message}` } : { error };
      logger.warn('sync.attempt.failed', { runId: run.id, attempts, ...known });
      if (!isRetryable(error) || attempts > settings.maxRetries) {
        return { status: 'failed', error: `${errorClass}: ${message}` };
      }
      await record.change({ retries: attempts });
    }
    await sleep(settings.retryBaseMs * 2 ** record.retries, null, { signal: lease.signal }).catch(() => null);
  }
}

function isCancelled(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'CancelledError';
}

/** Whether another attempt may succeed; a missing permission or a spent budget stays. */
function isRetryable(error: unknown): boolean {
  return !isEngramError(error) || error.status >= 500;
}
