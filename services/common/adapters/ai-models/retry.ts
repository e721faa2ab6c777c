import { setTimeout as sleep } from 'node:timers/promises';
import { isEngramError } from '../../domain/errors.ts';
import { classifyFailure, isAbort } from './provider-error.ts';

export interface RetryPolicy {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 5, firstDelayMs: 500, maxDelayMs: 20_000 };

/** Tries again after transient failures, as long as the provider asks or twice as long each time; then the error of ours. */
export async function withRetry<Result>(
  call: () => Promise<Result>,
  policy: RetryPolicy,
  options: { readonly signal?: AbortSignal; readonly isFinal?: (error: unknown) => boolean },
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (isAbort(error) || isEngramError(error) || options.isFinal?.(error) === true) throw error;
      const failure = classifyFailure(error);
      if (!failure.transient || attempt >= policy.attempts) throw failure.error;
      const delay = failure.retryAfterMs ?? policy.firstDelayMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
      await sleep(
        Math.min(delay, policy.maxDelayMs),
        undefined,
        options.signal === undefined ? {} : { signal: options.signal },
      );
    }
  }
}
