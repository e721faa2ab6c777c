import { createJobWorker } from '../../services/common/platform/jobs/job-worker.ts';
import { createWorkQueue } from '../../services/common/platform/jobs/work-queue.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import type { Clock } from '../../services/common/ports/system.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';

/** The worker of one process, which drives the jobs that it is asked to; `jobsCollection` must be prepared. */
export function createTestJobs(store: DocumentStore, clock: Clock) {
  const ids = createIdSource(clock);
  const workQueue = createWorkQueue({ store, bus: createInProcessBus(), clock, ids });
  const jobs = createJobWorker(
    { workQueue, store, clock, ids, logger: createSilentLogger() },
    {
      name: 'test',
      handlers: {},
      settings: { leaseMs: 15_000, pollMs: 1000, maxConcurrent: 1, drainMs: 10_000 },
    },
  );
  return { workQueue, jobs };
}
