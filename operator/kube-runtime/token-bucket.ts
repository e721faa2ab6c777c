import type { RuntimeClock } from './runtime-clock.ts';

export interface TokenRate {
  readonly perSecond: number;
  /** At once after a pause. */
  readonly burst: number;
}

export interface TokenBucket {
  /** Answers 0 and takes a token, or answers how long to wait for one, in milliseconds. */
  take(): number;
}

export function createTokenBucket(clock: Pick<RuntimeClock, 'monotonicMs'>, rate: TokenRate): TokenBucket {
  let tokens = rate.burst;
  let filledAt = clock.monotonicMs();
  return {
    take() {
      const now = clock.monotonicMs();
      tokens = Math.min(rate.burst, tokens + ((now - filledAt) / 1000) * rate.perSecond);
      filledAt = now;
      if (tokens < 1) return Math.ceil(((1 - tokens) / rate.perSecond) * 1000);
      tokens -= 1;
      return 0;
    },
  };
}
