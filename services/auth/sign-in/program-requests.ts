import { engramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { RateLimiter } from '../../common/ports/system.ts';

/** An error of RFC 6749 §5.2 or of the standards on it. */
export function oauthError(error: string, description?: string): HttpError {
  return new HttpError(400, { error, ...(description === undefined ? {} : { error_description: description }) });
}

/** `TooManyRequestsError` with the message when the key has used up its rate. */
export async function limitRequests(
  limiter: RateLimiter,
  key: string,
  rate: Parameters<RateLimiter['take']>[1],
  message: string,
): Promise<void> {
  const { allowed, retryAfterSeconds } = await limiter.take(key, rate);
  if (!allowed) throw engramError('TooManyRequestsError', message, { retryable: true, retryAfterSeconds });
}
