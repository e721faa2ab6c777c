import { type EngramError, engramError } from '../../kernel/errors.ts';

/** Builds the errors that callers of a store see. Messages must not hold a credential. */
export interface StoreFaults {
  /** Repeating does not help: an operator has to change something. */
  refused(message: string): EngramError;
  /** The same request may succeed in a moment. */
  unavailable(message: string): EngramError;
  timedOut(message: string): EngramError;
  tooLarge(message: string): EngramError;
}

/** The faults of a store that `cause` can be. */
export function storeFaults(cause: unknown, retryAfterSeconds?: number): StoreFaults {
  const repeatable = { cause, retryable: true, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  return {
    refused: (message) => engramError('ServiceUnavailableError', message, { cause }),
    unavailable: (message) => engramError('ServiceUnavailableError', message, repeatable),
    timedOut: (message) => engramError('DeadlineExceededError', message, repeatable),
    tooLarge: (message) => engramError('PayloadTooLargeError', message, { cause }),
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
