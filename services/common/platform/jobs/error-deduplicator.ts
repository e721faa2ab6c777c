/**
 * Remembers the last error, so that one that persists is logged once: an unavailable store would otherwise fill the log with a
 * line for each poll.
 */
export interface ErrorDeduplicator {
  /** Whether the error differs from the last one, which it replaces. */
  isNew(error: unknown): boolean;
  /** Called after a success: the same error is new when it comes back. */
  forget(): void;
}

export function createErrorDeduplicator(): ErrorDeduplicator {
  let last = '';
  return {
    isNew(error) {
      const fault = String(error);
      const isNew = fault !== last;
      last = fault;
      return isNew;
    },
    forget() {
      last = '';
    },
  };
}
