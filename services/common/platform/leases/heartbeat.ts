import type { MonotonicClock } from '../../ports/system.ts';

export interface HeartbeatOptions {
  readonly clock: MonotonicClock;
  readonly leaseMs: number;
  /** At most a third of the lease, so that two beats may fail. */
  readonly everyMs: number;
  /** On the monotonic clock: before the claim, or right after it. */
  readonly heldSinceMs: number;
  extend(): Promise<void>;
  /** Called with the error of a beat; `leftMs` is the rest of the lease, 0 or less when it is over. */
  onFailed(error: unknown, leftMs: number): void;
  /** Called when no beat succeeded during the term: another holder may have it. Called once or more. */
  onOver(): void;
  /** After a pause of this process longer than the lease: try a beat, or treat the lease as over. */
  readonly afterPause: 'beat' | 'over';
}

/** Renews a lease at intervals, one renewal (beat) after the other, and tracks until when it is held for certain. */
export function createHeartbeat(options: HeartbeatOptions) {
  const { clock, leaseMs, everyMs, heldSinceMs, afterPause } = options;
  let heldUntilMs = heldSinceMs + leaseMs;
  let beating: Promise<void> | null = null;
  const leftMs = () => heldUntilMs - clock.monotonicMs();
  const beat = async (): Promise<void> => {
    const startedMs = clock.monotonicMs();
    try {
      await options.extend();
      heldUntilMs = startedMs + leaseMs;
    } catch (error) {
      options.onFailed(error, leftMs());
      if (leftMs() <= 0) options.onOver();
    }
  };
  const tick = (): void => {
    // A hanging beat counts as a failed one.
    if (leftMs() <= 0 && (beating !== null || afterPause === 'over')) options.onOver();
    beating ??= beat().finally(() => {
      beating = null;
    });
  };
  const timer = setInterval(tick, everyMs).unref();
  return {
    /** How long it is held for certain. */
    leftMs,
    /** Beats now, unless a beat is under way. */
    beat: tick,
    /** Stops the beats, and waits for the one under way. */
    async stop() {
      clearInterval(timer);
      await beating;
    },
  };
}
