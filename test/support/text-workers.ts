import type { WorkerPool } from '../../services/common/platform/workers/worker-pool.ts';
import { createTextWorkers } from '../../services/common/text/extraction/rules/extraction-pool.ts';

/** Shared by all services of a test process: starting a worker takes longer than most tests. */
export const textWorkers = createTextWorkers({ idleMs: 60_000 });

/** For an app with these variables: none, so that it starts its own, when they limit its workers. */
export function sharedTextWorkers(variables: Readonly<Record<string, string>>): { readonly textWorkers?: WorkerPool } {
  const isLimited = Object.keys(variables).some((name) => /WORKER|DOCUMENT/.test(name));
  return isLimited ? {} : { textWorkers };
}
