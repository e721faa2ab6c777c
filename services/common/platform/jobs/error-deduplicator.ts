/**
 * Remembers the last error, so that one that persists is logged once: an unavailable store would otherwise fill the log with a
 * line for each poll.
 */
export function createErrorDeduplicator() {
  let last = '';
  return {
    /** Whether the error differs from the last one, which it replaces. */
    isNew(error: unknown) {
      const fault = String(error);
      const isNew = fault !== last;
      last = fault;
      return isNew;
    },
    /** Called after a success: the same error is new when it comes back. */
    forget() {
      last = '';
    },
  };
}
