import { type EngramError, engramError } from '../../../kernel/errors.ts';
import { abortable } from '../../../platform/async/abortable.ts';
import type { RequestOptions } from '../../ports/bus.ts';

/**
 * `work` until the deadline or the caller's abort: then it is told by its signal, and the error is thrown without waiting
 * for it.
 */
export async function within<Result>(
  { deadlineMs, signal }: RequestOptions,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(late()), deadlineMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await abortable(work(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

export function tooLate(subject: string, { deadlineMs }: RequestOptions): EngramError {
  return engramError('DeadlineExceededError', `${subject} did not answer in ${deadlineMs} ms`);
}

/** Error of a request without a responder, which may be starting. */
export function noResponder(subject: string): EngramError {
  const options = { retryable: true, retryAfterSeconds: 1 };
  return engramError('ServiceUnavailableError', `No service answers ${subject}`, options);
}
