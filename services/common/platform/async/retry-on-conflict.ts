import { DuplicateKeyError, VersionConflictError } from '../../storage/ports/document-store.ts';
import { type RetryOptions, retry } from './retry.ts';

/** Returns whether another writer committed between the read and the commit: the read must be repeated. */
export function isWriteConflict(error: unknown): error is VersionConflictError | DuplicateKeyError {
  return error instanceof VersionConflictError || error instanceof DuplicateKeyError;
}

/** Resolves also when the commit inserted a document that another writer has inserted before. */
export async function ignoreDuplicate(commit: Promise<unknown>): Promise<void> {
  try {
    await commit;
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
  }
}

/** Reads and commits, again when another writer came between. Throws that error after the last attempt (`RetryOptions`). */
export function retryOnConflict<Result>(
  attempt: () => Promise<Result>,
  options: Partial<RetryOptions> = {},
): Promise<Result> {
  return retry(attempt, { isRetryable: isWriteConflict, ...options });
}
