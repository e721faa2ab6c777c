import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** Routes whose every failure the contract answers with one text: errors of the contract keep their own status. */
export async function orFixedFailure<Result>(
  logger: Logger,
  text: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isEngramError(error) || error instanceof HttpError) throw error;
    logger.error('ingest.skills.failed', { reason: text, error });
    throw new HttpError(409, { error: text }, { cause: error });
  }
}
