import type { RunItem, RunState } from '../../domain/run.ts';
import { EngramError, isEngramError, namedError } from '../../kernel/errors.ts';

/** The waiting time that a provider asked for is not stored with a run: most of it has passed by then. */
const RETRY_AFTER_SECONDS = 5;

/** Whether the model's provider refused the run (quota, rate limit, missing key), which the caller gets as a status. */
export function isModelRefusal({ errorClass, errorStatus }: RunState): boolean {
  return errorStatus === 402 || errorStatus === 429 || errorClass === 'LLMAPIKeyNotSetError';
}

/** Whether the error is transient: a store or another service is unavailable. */
export function isTransient(error: unknown): boolean {
  return isEngramError(error) && (error.status === 503 || error.status === 504);
}

/** Returns the error of an errored run for a blocking caller. */
export function runError({ errorClass, errorMessage, errorStatus }: RunState): EngramError {
  const status = errorStatus ?? 500;
  return new EngramError(errorClass ?? 'Error', status, errorMessage ?? 'The run ended with an error.', {
    ...(status === 429 ? { retryAfterSeconds: RETRY_AFTER_SECONDS, retryable: true } : {}),
  });
}

/** Returns those of the items that the run could not build. */
export function failedItems(run: RunState, items: readonly string[]): readonly RunItem[] {
  const meant = new Set(items);
  return run.items.filter(({ item, status }) => status === 'errored' && meant.has(item));
}

/** Returns the error of the run, or of one of the items; null when they are all built. */
export function runErrorOf(run: RunState, items: readonly string[]): EngramError | null {
  if (run.status === 'DATASET_PROCESSING_ERRORED') return runError(run);
  const [failed] = failedItems(run, items);
  if (failed === undefined) return null;
  const { name = failed.item, errorClass = 'CogneeSystemError', message = 'no reason was kept' } = failed.failure ?? {};
  return namedError(errorClass, `'${name}' could not be built: ${message}`);
}

const LOOK_AT = 2048;
const KEEP = 512;

/** Order matters: the specific patterns run before the general ones they contain. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}/gu, '[email]'],
  [/\bbearer\s+[^\s"',;]+/gi, '[secret]'],
  [/\b(?:sk|pk|rk|api|key|token|secret)[-_][\w-]{4,}/gi, '[secret]'],
  [/\b[0-9a-f]{32,}\b/gi, '[secret]'],
  [/(?<![\w+/=-])[\w+/-]{40,}={0,2}(?![\w+/=-])/g, '[secret]'],
  [/((?:^|[\s"'(=:])(?:\/home|\/Users|[A-Za-z]:\\Users)[\\/])[^\s\\/"':]+/g, '$1[user]'],
  [/\d{6,}/g, '[number]'],
];

/**
 * Makes an error text safe to store and show: replaces addresses, secrets, home directories and long numbers, and cuts it to
 * 512 characters, the last one `…` then.
 */
export function scrubErrorText(text: string): string {
  let scrubbed = text.slice(0, LOOK_AT).toWellFormed();
  for (const [pattern, replacement] of RULES) scrubbed = scrubbed.replace(pattern, replacement);
  const cut = text.length > LOOK_AT || scrubbed.length > KEEP;
  return cut ? `${scrubbed.slice(0, KEEP - 1).toWellFormed()}…` : scrubbed;
}
