/** The time of day. */
export interface WallClock {
  now(): Date;
}

/** For durations: the milliseconds never go back. */
export interface MonotonicClock {
  monotonicMs(): number;
}

/** The time, as a port so that tests can hold it. */
export interface Clock extends WallClock, MonotonicClock {}

export interface UuidSource {
  /** Random UUID version 4. */
  uuid(): string;
}

export interface IdSource extends UuidSource {
  /** Time-ordered and unique: for keys that are listed in creation order. */
  ordered(): string;
}

/** Token bucket per key. */
export interface RateLimiter {
  take(
    key: string,
    limit: { readonly capacity: number; readonly refillPerSecond: number },
  ): Promise<{ readonly allowed: boolean; readonly retryAfterSeconds: number }>;
}
