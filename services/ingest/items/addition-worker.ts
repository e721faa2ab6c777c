import { createJobWorker, type JobWorker, type JobWorkerSettings } from '../../common/platform/jobs/job-worker.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { IngestDependencies } from '../dependencies.ts';

const driveAddition = onDemand(async () => (await import('./drive-addition.ts')).driveAddition);

/** Kind of the jobs that add what was accepted with `run_in_background`. */
export const ADDITION_JOB = 'addition';

const SETTINGS: Omit<JobWorkerSettings, 'drainMs'> = { leaseMs: 15_000, pollMs: 1000, maxConcurrent: 16 };

/** Adds what was accepted with `run_in_background`. When the process stops, the next one goes on with it. */
export function createAdditionWorker(dependencies: IngestDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'ingest.addition',
    kinds: [ADDITION_JOB],
    settings: { ...SETTINGS, drainMs: dependencies.settings.drainMs },
    drive: (job, lease) => driveAddition(dependencies, job, lease),
  });
}
