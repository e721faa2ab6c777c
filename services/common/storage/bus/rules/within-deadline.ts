import { type EngramError, engramError } from '../../../kernel/errors.ts';
import type { RequestOptions } from '../../ports/bus.ts';

/**
 * `work` until the deadline or the caller's abort: then it is told by its signal, and the error is thrown without waiting
 * for it.
 */
export async function within<Result>(
  { deadlineMs, signal }: Pick<RequestOptions, 'deadlineMs' | 'signal'>,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const timer = setTimeout(() => end(late()), deadlineMs);
  const onAbort = () => end(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

export function tooLate(subject: string, { deadlineMs }: Pick<RequestOptions, 'deadlineMs'>): EngramError {
  return engramError('DeadlineExceededError', `${subject} did not answer in ${deadlineMs} ms`);
}

/** Said at once; the other side may be starting. */
export function nobodyAnswers(subject: string): EngramError {
  const options = { retryable: true, retryAfterSeconds: 1 };
  return engramError('ServiceUnavailableError', `Nobody answers ${subject}`, options);
}
