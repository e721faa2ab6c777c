import type { KubeObject, ObjectName, ResourceKind } from './kube-object.ts';

interface CallOptions {
  /** Ends the call early. Every call but `watch` also ends by itself after 10 s. */
  readonly signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Where a list or an earlier watch ended. */
  readonly resourceVersion: string;
  /** The server ends the watch after this long. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** A line of a watch. `BOOKMARK` carries nothing but the resource version reached; `ERROR` ends the watch. */
export interface WatchEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  /** To watch from. */
  readonly resourceVersion: string;
}

interface ApplyOptions extends CallOptions {
  /** Takes over fields of other managers. Only for objects that the operator made. */
  readonly force?: boolean;
}

interface DeleteOptions extends CallOptions {
  /** Refused with 409 when the object has another uid: never deletes a namesake. */
  readonly uid?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * The API server, in plain JSON. Calls throw `KubeError`; answers 429 (and 503 with Retry-After) are tried again within
 * the time of the call. Writes are made under one field manager, status writes under `<manager>-status`.
 */
export interface KubeClient {
  /** Null when there is none. */
  get<T extends KubeObject>(kind: ResourceKind, name: ObjectName, options?: CallOptions): Promise<T | null>;
  /** All of them, by pages of 500. */
  list<T extends KubeObject>(kind: ResourceKind, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * Until the server ends it (returns), it is aborted (returns) or it breaks (throws). Also throws `KubeError` 410 when
   * the resource version is too old, and for a line that is no JSON.
   */
  watch<T extends KubeObject>(kind: ResourceKind, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** 409 `AlreadyExists` when there is one. */
  create<T extends KubeObject>(kind: ResourceKind, object: T, options?: CallOptions): Promise<T>;
  /** Compare and set by `metadata.resourceVersion`: 409 `Conflict` when it is not the current one. */
  replace<T extends KubeObject>(kind: ResourceKind, object: T, options?: CallOptions): Promise<T>;
  /** Server-side apply: creates or changes; fields left out that this manager set before are removed. */
  apply<T extends KubeObject>(kind: ResourceKind, object: T, options?: ApplyOptions): Promise<T>;
  /** JSON merge patch (RFC 7386): null removes, lists are replaced. `metadata.resourceVersion` in it makes it compare and set. */
  patch<T extends KubeObject>(kind: ResourceKind, name: ObjectName, patch: object, options?: CallOptions): Promise<T>;
  /** The same on `/status`; `status` is the merge patch of the status. */
  patchStatus<T extends KubeObject>(
    kind: ResourceKind,
    name: ObjectName,
    status: object,
    options?: CallOptions,
  ): Promise<T>;
  /** False when there was none. */
  delete(kind: ResourceKind, name: ObjectName, options?: DeleteOptions): Promise<boolean>;
}

/** A refusal of the API server, or a failure to reach it. */
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

  /** Whether the same request may succeed later: no answer, conflict, too many requests, server error. Never shown to users. */
  get transient(): boolean {
    return this.code === 0 || this.code === 409 || this.code === 429 || this.code >= 500;
  }
}

/** A write was prevented because this process does not lead. */
export class NotLeaderError extends Error {
  constructor() {
    super('This process does not hold the lease.');
    this.name = 'NotLeaderError';
  }
}

export function isKubeError(error: unknown, code?: number): error is KubeError {
  return error instanceof KubeError && (code === undefined || error.code === code);
}
