import type { JsonObject } from '../domain/json.ts';
import type { Scope, SystemScope } from '../domain/scope.ts';
import type { Write } from './document-store.ts';

/**
 * Durable jobs, at least once. Written once on `DocumentStore`; a wake-up over the bus only shortens the poll.
 *
 * - `enqueueWrites` gives the writes that create a job, to be committed together with the state that asks for it.
 * - Jobs with the same `orderingKey` run one at a time, in enqueue order; jobs without one run freely.
 * - A claim is a lease with a fencing token that grows with every claim of the job: `heartbeat`, `complete`, `fail` and
 *   `assertHeld` throw `LeaseLostError` once another worker holds the job, so a late worker cannot finish it.
 * - A failed job comes back after its back-off and becomes a dead letter after `maxAttempts`.
 */
export interface WorkQueue {
  /** Same `idempotencyKey` again while the first is unfinished → the commit throws `DuplicateKeyError`. */
  enqueueWrites(scope: Scope, job: NewJob): { readonly jobId: string; readonly writes: readonly Write[] };
  /** Tells waiting workers that a commit added jobs of the kind. Lost wake-ups cost one poll. */
  wake(kind: string): Promise<void>;
  /** The next claimable job of one of the kinds, or null. */
  claim(scope: SystemScope, kinds: readonly string[], worker: string, leaseMs: number): Promise<ClaimedJob | null>;
  /** Extends the lease; returns true when the job was asked to stop. */
  heartbeat(job: ClaimedJob, leaseMs: number): Promise<{ readonly cancelRequested: boolean }>;
  /** Writes to be committed with the job's last state change, so that finishing is atomic with its effect. */
  completeWrites(job: ClaimedJob): readonly Write[];
  fail(
    job: ClaimedJob,
    error: { readonly name: string; readonly message: string },
    options: { readonly retry: boolean },
  ): Promise<'retry' | 'dead'>;
  /** Gives the job back at once, without counting an attempt: the worker is stopping. */
  release(job: ClaimedJob): Promise<void>;
  requestCancel(scope: SystemScope, jobId: string): Promise<boolean>;
  deadLetters(scope: SystemScope, limit: number): Promise<readonly DeadLetter[]>;
  replay(scope: SystemScope, jobId: string): Promise<boolean>;
  depth(scope: SystemScope): Promise<Readonly<Record<string, number>>>;
}

export interface NewJob {
  readonly kind: string;
  readonly payload: JsonObject;
  readonly orderingKey?: string;
  readonly idempotencyKey?: string;
  readonly maxAttempts?: number;
}

export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly scope: Scope;
  readonly payload: JsonObject;
  /** 1 on the first claim. */
  readonly attempt: number;
  /** Grows with every claim of this job. */
  readonly fencingToken: number;
  readonly worker: string;
}

export interface DeadLetter {
  readonly id: string;
  readonly kind: string;
  readonly attempts: number;
  readonly error: { readonly name: string; readonly message: string };
  readonly failedAt: string;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
