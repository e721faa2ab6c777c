import { isEngramError } from '../../common/kernel/errors.ts';
import { isPassing } from '../../common/platform/jobs/run-error.ts';

/** Failures that say nothing of the item: money, keys, rights, a damaged store. */
const OF_THE_RUN = new Set([
  'LLMPaymentRequiredError',
  'LLMQuotaExceededError',
  'LLMAPIKeyNotSetError',
  'TooManyRequestsError',
  'EmbeddingDimensionMismatchError',
  'CorruptStoreError',
  'PermissionDeniedError',
  'CancelledError',
  'LeaseLostError',
]);

/**
 * Whom a failure is laid on: `item` fails this item alone, `run` would fail all others too, and `passing` comes from a store or
 * a provider that may answer again: it ends the run only when it goes on.
 */
export function blameOf(error: unknown): 'item' | 'run' | 'passing' {
  if (isPassing(error)) return 'passing';
  const name = isEngramError(error) ? error.wireName : error instanceof Error ? error.name : '';
  return OF_THE_RUN.has(name) ? 'run' : 'item';
}
