import { DuplicateKeyError, VersionConflictError } from '../../storage/ports/document-store.ts';
import { type RetryOptions, retry } from './retry.ts';

/** Returns whether another writer committed between the read and the commit: the read must be repeated. */
export function isWriteConflict(error: unknown): error is VersionConflictError | DuplicateKeyError {
  return error instanceof VersionConflictError || error instanceof DuplicateKeyError;
}

/** Whether the commit was made: false, and no error, where another writer has inserted one of its documents before. */
export function ignoreDuplicate(commit: Promise<unknown>): Promise<boolean> {
  return isMade(commit, (error) => error instanceof DuplicateKeyError);
}

/** Whether the commit was made: false, and no error, where a document that it requires was changed or removed meanwhile. */
export function ignoreConflict(commit: Promise<unknown>): Promise<boolean> {
  return isMade(commit, (error) => error instanceof VersionConflictError);
}

/** Whether the commit was made: false, and no error, where another writer came between in either way. */
export function ignoreWriteConflict(commit: Promise<unknown>): Promise<boolean> {
  return isMade(commit, isWriteConflict);
}

async function isMade(commit: Promise<unknown>, isIgnored: (error: unknown) => boolean): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (error) {
    if (isIgnored(error)) return false;
    throw error;
  }
}

/**
 * Throws an error of the caller's in place of a write conflict: `duplicate` where a unique value is taken, `changed` where a
 * document that the commit requires was changed or removed meanwhile.
 */
export async function nameConflict<Result>(
  commit: Promise<Result>,
  { duplicate, changed }: { readonly duplicate?: () => Error; readonly changed?: () => Error },
): Promise<Result> {
  try {
    return await commit;
  } catch (error) {
    if (duplicate !== undefined && error instanceof DuplicateKeyError) throw duplicate();
    if (changed !== undefined && error instanceof VersionConflictError) throw changed();
    throw error;
  }
}

/** Reads and commits, again when another writer came between. Throws that error after the last attempt (`RetryOptions`). */
export function retryOnConflict<Result>(
  attempt: () => Promise<Result>,
  options: Partial<RetryOptions> = {},
): Promise<Result> {
  return retry(attempt, { isRetryable: isWriteConflict, ...options });
}
