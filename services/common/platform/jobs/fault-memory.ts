/**
 * Remembers what failed last, so that a fault that stays is told once: a store that is away would otherwise fill the log
 * with a line for each poll.
 */
export interface FaultMemory {
  /** Another fault than the last one. Either way it is the last one from now on. */
  isNews(error: unknown): boolean;
  /** It worked again: the same fault is news when it comes back. */
  forget(): void;
}

export function createFaultMemory(): FaultMemory {
  let last = '';
  return {
    isNews(error) {
      const fault = String(error);
      const isNews = fault !== last;
      last = fault;
      return isNews;
    },
    forget() {
      last = '';
    },
  };
}
