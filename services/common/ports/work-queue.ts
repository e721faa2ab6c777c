import type { TenantId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Page } from '../kernel/result-page.ts';
import type { Scope, SystemScope } from '../kernel/scope.ts';
import type { Write } from '../storage/ports/document-store.ts';

/**
 * Durable jobs, at least once. Written once on `DocumentStore`; a wake-up over the bus only shortens the poll.
 *
 * - `enqueueWrites` gives the writes that create a job, to be committed together with the state that asks for it.
 * - Jobs with the same `orderingKey` run one at a time, in enqueue order; jobs without one run freely.
 * - A claim is a lease with a fencing token that grows with every claim of the job: once another worker holds the job,
 *   `heartbeat`, `fail` and `release` throw `LeaseLostError`, and commits with `heldWrites` or `completeWrites` fail with
 *   `VersionConflictError`, so that a late worker can write nothing.
 * - A failed job comes back after its back-off and becomes a dead letter after `maxAttempts`.
 */
export interface WorkQueue {
  /** Same `idempotencyKey` again while the first is unfinished → the commit throws `DuplicateKeyError`. */
  enqueueWrites(scope: Scope, job: NewJob): { readonly jobId: string; readonly writes: readonly Write[] };
  /** The same for a job that `worker` holds from the commit on: for work that begins at once and must survive its process. */
  beginWrites(
    scope: Scope,
    job: NewJob,
    worker: string,
    leaseMs: number,
  ): { readonly job: ClaimedJob; readonly writes: readonly Write[] };
  /** Wakes waiting workers after a commit that added jobs of the kind. Lost wake-ups cost one poll. */
  wake(kind: string): Promise<void>;
  /** The next claimable job of one of the kinds, or null. */
  claim(scope: SystemScope, kinds: readonly string[], worker: string, leaseMs: number): Promise<ClaimedJob | null>;
  /** Claims that job, also during its back-off and when it is dead; null when there is none, or a worker holds it. */
  claimJob(scope: SystemScope, jobId: string, worker: string, leaseMs: number): Promise<ClaimedJob | null>;
  /** Extends the lease; returns true when the job was asked to stop. */
  heartbeat(job: ClaimedJob, leaseMs: number): Promise<{ readonly cancelRequested: boolean }>;
  /** Conditions for commits that only the holder of the job may make: they change nothing, and fail the commit of a late worker. */
  heldWrites(job: ClaimedJob): readonly Write[];
  /** Writes to be committed with the job's last state change, so that finishing is atomic with its effect. */
  completeWrites(job: ClaimedJob): readonly Write[];
  fail(
    job: ClaimedJob,
    error: { readonly name: string; readonly message: string },
    options: { readonly retry: boolean },
  ): Promise<'retry' | 'dead'>;
  /**
   * Gives the job back without counting an attempt: the worker is stopping, or what the job needs is taken. It may be
   * claimed again after `afterMs`, default at once.
   */
  release(job: ClaimedJob, afterMs?: number): Promise<void>;
  /** Cancels the job: its worker, or the next one, stops; at once over the bus, or with its next heartbeat. */
  requestCancel(scope: SystemScope, jobId: string): Promise<boolean>;
  /** Conditions for commits that rely on a job that has not started: they change nothing, and fail as `withdrawWrites`. */
  waitingWrites(jobId: string): readonly Write[];
  /** Remove a job that no worker holds; their commit fails with `VersionConflictError` when it is not in the state any more. */
  withdrawWrites(jobId: string, state: 'queued' | 'dead'): readonly Write[];
  /** Removes the jobs of a tenant that is erased, also running and dead ones, except the one that erases it. */
  removeOfTenant(
    scope: SystemScope,
    tenant: TenantId,
    except: string,
  ): Promise<{ readonly removed: number; readonly left: number }>;
  /** Whether the job is queued, running or dead; a completed or withdrawn job does not exist any more. */
  exists(scope: SystemScope, jobId: string): Promise<boolean>;
  depth(scope: SystemScope): Promise<Readonly<Record<string, number>>>;
  readonly deadLetters: DeadLetters;
}

/** Jobs that were given up; they are stored until they are replayed or withdrawn. */
export interface DeadLetters {
  /** In enqueue order, of all kinds; `limit` 1 to 1000, `after` is `next` of the page before. */
  list(
    scope: SystemScope,
    query: { readonly limit: number; readonly after?: string | null },
  ): Promise<Page<DeadLetter>>;
  /** Null when there is no such job, or when it is not dead. */
  get(scope: SystemScope, jobId: string): Promise<DeadLetter | null>;
  /** Queues the job again, with all its attempts. False when it is not dead, or when a newer one has its idempotency key. */
  replay(scope: SystemScope, jobId: string): Promise<boolean>;
}

export interface NewJob {
  /** Default: a new one. The commit throws `DuplicateKeyError` while there is a job of the id, a dead letter included. */
  readonly id?: string;
  readonly kind: string;
  readonly payload: JsonObject;
  readonly orderingKey?: string;
  readonly idempotencyKey?: string;
  readonly maxAttempts?: number;
}

/** For jobs whose worker limits the attempts itself. */
export const UNLIMITED_ATTEMPTS = 1_000_000;

export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly scope: Scope;
  readonly payload: JsonObject;
  /** 1 on the first claim. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Grows with every claim of this job. */
  readonly fencingToken: number;
  readonly worker: string;
  /** It was cancelled before it was claimed. */
  readonly cancelRequested: boolean;
}

export interface DeadLetter {
  readonly id: string;
  readonly kind: string;
  readonly tenant: string;
  readonly dataset: string | null;
  readonly payload: JsonObject;
  readonly attempts: number;
  readonly error: { readonly name: string; readonly message: string };
  readonly failedAt: string;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  /** Another worker has the job; otherwise it does not exist (any more). */
  readonly isTaken: boolean;
  constructor(message: string, { isTaken = false, ...options }: ErrorOptions & { readonly isTaken?: boolean } = {}) {
    super(message, options);
    this.isTaken = isTaken;
  }
}
