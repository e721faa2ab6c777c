import type { Clock } from '../../ports/system.ts';

/** Extends a lease from time to time, one beat after the other, and knows until when it is held for certain. */
export interface Heartbeat {
  /** Beats now, unless a beat is under way. */
  beat(): void;
  /** Beats no more, and waits for the beat under way. */
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly leaseMs: number;
  /** Not more than a third of the lease: two beats may fail. */
  readonly everyMs: number;
  /** Of the monotonic clock, before the lease was asked for or right after it was got. */
  readonly heldSinceMs: number;
  extend(): Promise<void>;
  /** What a beat failed with; `leftMs` is what is left of the lease, 0 or less when it is over. */
  onFailed(error: unknown, leftMs: number): void;
  /** No beat went through for a lease: somebody else may hold it by now. May be told more than once. */
  onOver(): void;
  /** When this process itself was paused beyond the lease: whether a beat tells how things are, or the lease is over. */
  readonly afterPause: 'beat' | 'over';
}

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
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
    // A beat that hangs is as bad as one that fails.
    if (leftMs() <= 0 && (beating !== null || afterPause === 'over')) options.onOver();
    beating ??= beat().finally(() => {
      beating = null;
    });
  };
  const timer = setInterval(tick, everyMs).unref();
  return {
    beat: tick,
    async stop() {
      clearInterval(timer);
      await beating;
    },
  };
}
