import type { Clock } from '../../services/common/ports/system.ts';

/** Time and timers, as a port that tests can control. */
export interface RuntimeClock extends Clock {
  /** Runs `action` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  after(delayMs: number, action: () => void): () => void;
}

export function createRuntimeClock(): RuntimeClock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    after(delayMs, action) {
      const timer = setTimeout(action, Math.min(delayMs, MAX_DELAY_MS));
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

/** Node fires longer timers at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Resolves after `delayMs`, or at once when aborted. */
export function pause(clock: RuntimeClock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}
