/** The time, as a port so that tests can hold it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that never go back; for durations. */
  monotonicMs(): number;
}

export interface IdSource {
  /** Random UUID version 4. */
  uuid(): string;
  /** Time-ordered and unique: for keys that are listed in creation order. */
  ordered(): string;
}

/** Seals small secrets under a root key with rotation. `context` is bound to the box and must match to open it. */
export interface SecretBox {
  seal(plain: string, context: string): string;
  /** Throws when the box was changed, sealed for another context or under an unknown key. */
  open(sealed: string, context: string): string;
}

/** Token bucket per key. */
export interface RateLimiter {
  take(
    key: string,
    limit: { readonly capacity: number; readonly refillPerSecond: number },
  ): Promise<{ readonly allowed: boolean; readonly retryAfterSeconds: number }>;
}
