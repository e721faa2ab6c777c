import { pause } from './pause.ts';

export interface RetryOptions {
  readonly isRetryable: (error: unknown) => boolean;
  /** Attempts in all. Default 20. */
  readonly attempts?: number;
  /** Longest pause before another attempt. Default 250 ms. */
  readonly maxPauseMs?: number;
  /** Ends the pauses: rejects with its reason. */
  readonly signal?: AbortSignal;
}

const DEFAULT_ATTEMPTS = 20;
const DEFAULT_MAX_PAUSE_MS = 250;

/**
 * Repeats `attempt` while it fails with a retryable error: once at once, then after random pauses that grow from 4 ms, so that
 * callers who disturb each other part. Throws the last error, and any that is not retryable.
 */
export async function retry<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { isRetryable, attempts = DEFAULT_ATTEMPTS, maxPauseMs = DEFAULT_MAX_PAUSE_MS, signal } = options;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (count >= attempts || !isRetryable(error)) throw error;
    }
    signal?.throwIfAborted();
    if (count > 1) await pause(Math.random() * Math.min(maxPauseMs, 2 ** count), signal);
  }
}
