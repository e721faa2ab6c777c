import { engramError } from '../../kernel/errors.ts';

/** Builds the errors that callers of a store see. Messages must not hold a credential. */
export type StoreFaults = ReturnType<typeof storeFaults>;

/** The faults of a store that `cause` can be. */
export function storeFaults(cause: unknown, retryAfterSeconds?: number) {
  const repeatable = { cause, retryable: true, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  return {
    /** Repeating does not help: an operator has to change something. */
    refused: (message: string) => engramError('ServiceUnavailableError', message, { cause }),
    /** The same request may succeed in a moment. */
    unavailable: (message: string) => engramError('ServiceUnavailableError', message, repeatable),
    timedOut: (message: string) => engramError('DeadlineExceededError', message, repeatable),
    tooLarge: (message: string) => engramError('PayloadTooLargeError', message, { cause }),
  };
}

/** Runs work of a driver; its errors become those that `translate` makes of them. */
export async function translated<T>(translate: (error: unknown) => unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error);
  }
}
