import { isEngramError } from '../../common/kernel/errors.ts';
import { createJobWorker, type JobWorker, type JobWorkerSettings } from '../../common/platform/jobs/job-worker.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { ADDITION_JOB } from './background-additions.ts';
import { driveAddition, failAddition, recordFailure } from './drive-addition.ts';

const SETTINGS: Omit<JobWorkerSettings, 'drainMs'> = { leaseMs: 15_000, pollMs: 1000, maxConcurrent: 16 };

/**
 * Adds what was accepted with `run_in_background`. When the process stops, the next one goes on with it. An addition is tried
 * again while a store or a service is away; any other failure ends it, and its run says why.
 */
export function createAdditionWorker(dependencies: IngestDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'ingest.addition',
    handlers: {
      [ADDITION_JOB]: {
        drive: (job, lease) => driveAddition(dependencies, job, lease),
        failures: {
          decide(error) {
            if (isTransient(error)) return 'retry';
            return isEngramError(error) && error.wireName === 'CorruptStoreError' ? 'dead' : 'end';
          },
          async record(job, error, fate) {
            if (fate === 'end') await failAddition(dependencies, job, error);
            // A dead letter keeps its inputs: it can be replayed.
            else if (fate === 'dead' && isTransient(error)) await recordFailure(dependencies, job, error);
          },
        },
      },
    },
    settings: { ...SETTINGS, drainMs: dependencies.settings.drainMs },
  });
}
