import { engramError } from '../../../kernel/errors.ts';
import { workerTask } from '../../../platform/workers/worker-messages.ts';
import {
  createWorkerPool,
  WorkerFailure,
  type WorkerPool,
  type WorkerPoolOptions,
} from '../../../platform/workers/worker-pool.ts';
import type { Extractor } from '../../../ports/extractor.ts';

/** Version of the rules: changes whenever they would answer differently. */
export const RULES_VERSION = 'rules-4';

const EXTRACT = workerTask<typeof import('./extraction-task.ts'), 'extract'>(
  new URL('./extraction-task.ts', import.meta.url),
  'extract',
);

export interface ExtractionPool extends Extractor {
  /** Starts a process, which takes a third of a second to load its model of the language; one that idles stays on. */
  prepare(): void;
}

/**
 * The rules extractor in worker processes, which start with the first call or by `prepare`. Errors: `CogneeSystemError` for a
 * chunk that passed a limit or made its process fail, `CancelledError` when the pool is closed.
 */
export function createExtractionPool(pool: WorkerPool): ExtractionPool {
  return {
    version: RULES_VERSION,
    prepare: () => pool.prepare(EXTRACT),
    async extract(input, { signal }) {
      signal?.throwIfAborted();
      // Without the signal: a chunk takes less time than restarting the worker process.
      return pool.run(EXTRACT, input).catch((cause: unknown) => {
        throw failureOf(cause);
      });
    },
  };
}

function failureOf(cause: unknown): unknown {
  if (!(cause instanceof WorkerFailure)) {
    return engramError('CogneeSystemError', 'Extraction of a chunk failed.', { cause });
  }
  if (cause.reason === 'closed') return engramError('CancelledError', 'Extraction was stopped.', { cause });
  return engramError('CogneeSystemError', `Extraction of a chunk failed: ${cause.message}.`, { cause });
}

/** One process for work over texts, extraction included: it keeps the main loop free on two cores. */
export function createTextWorkers(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  return createWorkerPool({
    size: 1,
    timeoutMs: 60_000,
    memoryBytes: 512 * 1024 * 1024,
    idleMs: 60_000,
    ...options,
  });
}
