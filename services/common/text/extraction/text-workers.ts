import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../platform/workers/worker-pool.ts';

/** One process for work over texts, extraction included: it keeps the main loop free on two cores. */
export function createTextWorkers(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  return createWorkerPool({
    ...{ size: 1, timeoutMs: 60_000, memoryBytes: 512 * 1024 * 1024, idleMs: 60_000 },
    ...options,
  });
}
