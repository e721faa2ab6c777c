import type { RuntimeClock } from './runtime-clock.ts';

/** Bookmarks come every minute: a watch that says nothing for longer is a connection that is gone. */
const IDLE_MS = 90_000;

/** Why a watch was ended from here. */
export type WatchEnd = 'idle' | 'resync' | 'stopped';

/** Ends a watch that is silent for too long, when everything is to be listed again, and when the process stops. */
export interface WatchTimers {
  /** Aborted when the watch is to end. */
  readonly signal: AbortSignal;
  /** Undefined when it was the server that ended it. */
  cause(): WatchEnd | undefined;
  /** A line came. */
  heard(): void;
  /** The watch has ended. */
  end(): void;
}

/** `relistAt` is a time of the monotonic clock. */
export function startWatchTimers(clock: RuntimeClock, stop: AbortSignal, relistAt: number): WatchTimers {
  const controller = new AbortController();
  let cause: WatchEnd | undefined;
  const end = (why: WatchEnd): void => {
    cause ??= why;
    controller.abort();
  };
  const onStop = () => end('stopped');
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  let heardAt = clock.monotonicMs();
  let cancelIdle = () => {};
  // One timer that is set again when it fires early, not one for each line.
  const armIdle = (delayMs: number): void => {
    cancelIdle = clock.after(delayMs, () => {
      const silentMs = clock.monotonicMs() - heardAt;
      if (silentMs >= IDLE_MS) end('idle');
      else armIdle(IDLE_MS - silentMs);
    });
  };
  armIdle(IDLE_MS);
  const cancelRelist = clock.after(Math.max(0, relistAt - clock.monotonicMs()), () => end('resync'));
  return {
    signal: controller.signal,
    cause: () => cause,
    heard() {
      heardAt = clock.monotonicMs();
    },
    end() {
      cancelIdle();
      cancelRelist();
      stop.removeEventListener('abort', onStop);
    },
  };
}
