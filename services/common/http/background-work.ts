import type { Logger } from '../ports/logger.ts';

/** Work of requests that goes on after their answers. */
export interface BackgroundWork {
  /** Never throws; the signal aborts when the server stops and its time is over. */
  start(work: (signal: AbortSignal) => Promise<void>): void;
  /** Waits for what is under way, at most so long, and then aborts it. */
  stop(timeoutMs: number): Promise<void>;
}

export function createBackgroundWork(logger: Logger): BackgroundWork {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  return {
    start(work) {
      const running = work(stopping.signal)
        .catch((error: unknown) => logger.error('http.background_work.failed', { error }))
        .finally(() => underWay.delete(running));
      underWay.add(running);
    },
    async stop(timeoutMs) {
      const timer = setTimeout(() => stopping.abort(new Error('The server is shutting down.')), timeoutMs);
      await Promise.all(underWay);
      clearTimeout(timer);
    },
  };
}
