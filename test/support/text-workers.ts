import { createTextWorkers } from '../../services/common/text/extraction/rules/extraction-pool.ts';

/** Shared by all services of a test process. Its worker process starts with the first text that is not small, and keeps nobody waiting. */
export const textWorkers = createTextWorkers({ idleMs: 5_000 });
