import { DuplicateKeyError, VersionConflictError } from '../../common/storage/ports/document-store.ts';

/** Reads, decides and commits again while somebody else is faster; every loser has a winner, so it ends. */
export async function commitUncontended<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof VersionConflictError) && !(error instanceof DuplicateKeyError)) throw error;
    }
  }
}
