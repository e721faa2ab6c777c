import { DuplicateKeyError, VersionConflictError } from '../../storage/ports/document-store.ts';

/** The commit failed because somebody else wrote meanwhile: what was read for it is to be read anew. */
export function isOvertaken(error: unknown): error is VersionConflictError | DuplicateKeyError {
  return error instanceof VersionConflictError || error instanceof DuplicateKeyError;
}

/** Reads and commits, again when somebody else wrote meanwhile; throws that at the last of `most` attempts. */
export async function untilUndisturbed<Result>(
  attempt: () => Promise<Result>,
  most: number = Number.POSITIVE_INFINITY,
): Promise<Result> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isOvertaken(error) || count >= most) throw error;
    }
  }
}
