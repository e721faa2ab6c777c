/** What the API server refused, or that it could not be reached. */
export class KubeError extends Error {
  /** The HTTP status; 0 when there was no answer (connection, time-out, broken reply). */
  readonly code: number;
  /** The `reason` of the API server's Status: `NotFound`, `Conflict`, `AlreadyExists`, `Expired`, …; or `Unreachable`. */
  readonly reason: string;
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
    readonly cause?: unknown;
  }) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = 'KubeError';
    this.code = failure.code;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
  }

  /** Worth trying again as it is: no answer, conflict, too many requests, server error. Never shown to users. */
  get transient(): boolean {
    return this.code === 0 || this.code === 409 || this.code === 429 || this.code >= 500;
  }
}

/** A write was stopped because this process does not lead (any more). */
export class NotLeaderError extends Error {
  constructor() {
    super('This process does not hold the lease.');
    this.name = 'NotLeaderError';
  }
}

export function isKubeError(error: unknown, code?: number): error is KubeError {
  return error instanceof KubeError && (code === undefined || error.code === code);
}
