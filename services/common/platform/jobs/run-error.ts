import type { RunItem, RunState } from '../../domain/run.ts';
import { EngramError, isEngramError, namedError } from '../../kernel/errors.ts';

/** A run keeps no waiting time of its provider: by then that has passed for the most part. */
const RETRY_AFTER_SECONDS = 5;

/** The model's provider wants money, patience or a key: the caller learns that by the status, not by a result. */
export function isModelRefusal({ errorClass, errorStatus }: RunState): boolean {
  return errorStatus === 402 || errorStatus === 429 || errorClass === 'LLMAPIKeyNotSetError';
}

/** Something that answers again by itself: a store, another service. */
export function isTransient(error: unknown): boolean {
  return isEngramError(error) && (error.status === 503 || error.status === 504);
}

/** The error that an errored run ended with, as a blocking caller gets it. */
export function runError({ errorClass, errorMessage, errorStatus }: RunState): EngramError {
  const status = errorStatus ?? 500;
  return new EngramError(errorClass ?? 'Error', status, errorMessage ?? 'The run ended with an error.', {
    ...(status === 429 ? { retryAfterSeconds: RETRY_AFTER_SECONDS, retryable: true } : {}),
  });
}

/** Those of the items that the run could not build, although others may have been built. */
export function failedItems(run: RunState, items: readonly string[]): readonly RunItem[] {
  const meant = new Set(items);
  return run.items.filter(({ item, status }) => status === 'errored' && meant.has(item));
}

/** What a run failed of, as a whole or with one of the items that matter here; null: they are all built. */
export function runErrorOf(run: RunState, items: readonly string[]): EngramError | null {
  if (run.status === 'DATASET_PROCESSING_ERRORED') return runError(run);
  const [failed] = failedItems(run, items);
  if (failed === undefined) return null;
  const { name = failed.item, errorClass = 'CogneeSystemError', message = 'no reason was kept' } = failed.failure ?? {};
  return namedError(errorClass, `'${name}' could not be built: ${message}`);
}
