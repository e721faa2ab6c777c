import { createJobWorker, type JobWorker } from '../../common/platform/jobs/job-worker.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { SYNC_JOB } from './sync-job.ts';

// With the first sync: a start need not load what it takes.
const driveSync = onDemand(async () => (await import('../sync/drive-sync.ts')).driveSync);

/** Takes syncs that wait as jobs. At its stop they go on elsewhere, or with the next start. */
export function createSyncWorker(dependencies: SyncDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'sync',
    handlers: {
      [SYNC_JOB]: {
        drive: (job, lease) => driveSync(dependencies, job, lease),
        // What ends a sync is written down; this is what kept it from that.
        failures: { decide: () => 'retry' },
      },
    },
    settings: dependencies.settings,
  });
}
