import { createJobWorker, type JobWorker } from '../../common/platform/jobs/job-worker.ts';
import { type NewJob, UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { driveSync } from './drive-sync.ts';

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
