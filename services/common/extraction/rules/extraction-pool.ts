import { engramError } from '../../domain/errors.ts';
import type { Extraction, ExtractionInput, Extractor } from '../../ports/extractor.ts';
import { createWorkerPool, WorkerFailure } from '../../workers/worker-pool.ts';
import { RULES_VERSION } from './rules-version.ts';

export interface ExtractionPoolOptions {
  /** Worker threads at most; default 1, which keeps the main loop free on two cores. */
  readonly size?: number;
  /** A thread without work stops after this long and gives its memory (about 90 MB) back. Default 60 s. */
  readonly idleMs?: number;
  /** A chunk that takes longer ends its thread. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface ExtractionPool extends Extractor {
  /** Starts a thread, which takes a third of a second to load its model of the language; one that idles stays on. */
  prepare(): void;
  /** Ends the threads; calls under way fail with `CancelledError`. */
  close(): Promise<void>;
}

export type WorkerReply = { readonly extraction: Extraction } | { readonly error: string };

/** The rules extractor in worker threads, which start with the first call or by `prepare`. Errors: `CogneeSystemError` for a thread that failed. */
export function createExtractionPool(options: ExtractionPoolOptions = {}): ExtractionPool {
  const { size = 1, idleMs = 60_000, timeoutMs = 30_000 } = options;
  const entry = new URL('./extraction-worker.ts', import.meta.url);
  const pool = createWorkerPool<ExtractionInput, WorkerReply>({ entry, size, idleMs, timeoutMs });
  return {
    version: RULES_VERSION,
    prepare: pool.prepare,
    close: pool.close,
    async extract(input, { signal }) {
      signal?.throwIfAborted();
      // Without the signal: a chunk takes less time than the thread that would have to be started anew.
      const reply = await pool.run(input).catch((cause: unknown) => {
        throw failureOf(cause);
      });
      if ('extraction' in reply) return reply.extraction;
      throw engramError('CogneeSystemError', 'Extraction of a chunk failed.', { cause: new Error(reply.error) });
    },
  };
}

function failureOf(cause: unknown): unknown {
  if (!(cause instanceof WorkerFailure)) return cause;
  if (cause.reason === 'closed') return engramError('CancelledError', 'Extraction was stopped.', { cause });
  const message = cause.reason === 'timeout' ? 'Extraction of a chunk took too long.' : 'The extraction thread failed.';
  return engramError('CogneeSystemError', message, { cause });
}
