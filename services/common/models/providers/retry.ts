import { isEngramError } from '../../kernel/errors.ts';
import { pause } from '../../platform/async/pause.ts';
import type { ModelCallContext } from '../../ports/models.ts';
import { classifyFailure, isAbort, isTimeout } from './provider-error.ts';

export interface RetryPolicy {
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** Limit of our own back-off. */
  readonly maxDelayMs: number;
  /** Longest wait that a provider may ask for; it is asked again after that. */
  readonly maxAskedDelayMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 500,
  maxDelayMs: 20_000,
  maxAskedDelayMs: 60_000,
};

/** A caller waits for the answer to a question: it learns soon that the provider is busy, and when to retry. */
const QUERY_LIMITS = { attempts: 3, maxDelayMs: 3000 };
/** A provider that hangs has cost the whole limit already. */
const TIMEOUT_ATTEMPTS = 2;

export function retryFor({ purpose }: ModelCallContext, policy: RetryPolicy): RetryPolicy {
  if (purpose !== 'query') return policy;
  const maxDelayMs = Math.min(policy.maxDelayMs, QUERY_LIMITS.maxDelayMs);
  return {
    ...policy,
    attempts: Math.min(policy.attempts, QUERY_LIMITS.attempts),
    maxDelayMs,
    maxAskedDelayMs: maxDelayMs,
  };
}

/**
 * Tries again after transient failures, as long as the provider asks or twice as long each time; then the error of ours.
 * An abort of the signal ends it at once with the signal's reason.
 */
export async function withRetry<Result>(
  call: () => Promise<Result>,
  policy: RetryPolicy,
  options: { readonly signal?: AbortSignal; readonly isFinal?: (error: unknown) => boolean },
): Promise<Result> {
  const { signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      if (isAbort(error) || isEngramError(error) || options.isFinal?.(error) === true) throw error;
      const failure = classifyFailure(error);
      const attempts = isTimeout(error) ? Math.min(policy.attempts, TIMEOUT_ATTEMPTS) : policy.attempts;
      if (!failure.transient || attempt >= attempts) throw failure.error;
      await pause(delayOf(failure.retryAfterMs, attempt, policy), signal);
    }
  }
}

function delayOf(askedMs: number | undefined, attempt: number, policy: RetryPolicy): number {
  if (askedMs !== undefined) return Math.min(askedMs, policy.maxAskedDelayMs);
  return Math.min(policy.firstDelayMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2), policy.maxDelayMs);
}
