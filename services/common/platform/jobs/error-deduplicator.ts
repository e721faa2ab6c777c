/**
 * Remembers what failed last, so that a fault that stays is told once: a store that is away would otherwise fill the log
 * with a line for each poll.
 */
export interface ErrorDeduplicator {
  /** Another fault than the last one. Either way it is the last one from now on. */
  isNew(error: unknown): boolean;
  /** It worked again: the same fault is news when it comes back. */
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
