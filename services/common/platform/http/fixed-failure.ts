import { isEngramError } from '../../kernel/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { HttpError } from './http-error.ts';

/** The answer of a route to every failure that the contract has no error for. */
interface FixedFailure {
  /** Event of the log. */
  readonly event: string;
  readonly text: string;
  /** Default 409. */
  readonly status?: number;
}

/** Runs the work; an unknown error is logged and becomes the fixed answer, errors of the contract keep their status. */
export async function orFixedFailure<Result>(
  logger: Pick<Logger, 'error'>,
  { event, text, status = 409 }: FixedFailure,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isEngramError(error) || error instanceof HttpError) throw error;
    logger.error(event, { reason: text, error });
    throw new HttpError(status, { error: text }, { cause: error });
  }
}
