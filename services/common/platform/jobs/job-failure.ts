import { isEngramError } from '../../kernel/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../../ports/work-queue.ts';
import { type DocumentWriter, DuplicateKeyError, VersionConflictError } from '../../storage/ports/document-store.ts';
import { jobsCollection, leaseLost } from './job-document.ts';
import { describeRunError } from './run-recorder.ts';

/** The worker stops and gives the job to another one: nothing is recorded. */
export class HandOverError extends Error {
  override readonly name = 'HandOverError';
}

/** Gives a job back that another worker can take at once, without counting this attempt. `LeaseLostError` when one has it. */
export async function handOver(workQueue: WorkQueue, job: ClaimedJob): Promise<void> {
  await workQueue.release(job);
  await workQueue.wake(job.kind).catch(() => null); // a lost one costs a poll
}

/** Returns the error of a commit with `heldWrites` or `completeWrites` of the job: `LeaseLostError` when that was why. */
export function heldError(error: unknown, job: ClaimedJob): unknown {
  const isLost = error instanceof VersionConflictError && error.collection === jobsCollection.name;
  return isLost ? leaseLost(job, { cause: error }) : error;
}

/** Whether the commit of a new job failed because there is one of its id, or an unfinished one of its idempotency key. */
export function isQueuedAlready(error: unknown): boolean {
  return error instanceof DuplicateKeyError && error.collection === jobsCollection.name;
}

/** Decision about a job whose work failed. */
export interface JobFailureRules {
  /**
   * `retry`: again after its back-off, and a dead letter after its last attempt. `dead`: a dead letter now. `end`: it is over,
   * for no attempt can succeed.
   */
  decide(error: unknown, job: ClaimedJob): JobFate;
  /** Writes the failure down, before the job is put back, given up (also after its last attempt) or completed. */
  record?(job: ClaimedJob, error: unknown, fate: JobFate): Promise<void>;
}

export type JobFate = 'retry' | 'dead' | 'end';

interface JobFailureDependencies {
  readonly workQueue: WorkQueue;
  readonly store: DocumentWriter;
  readonly logger: Logger;
}

/**
 * Retries, ends or gives up a job whose work failed with `error`, hands it over when its worker is stopping, and leaves it
 * alone when another worker has it. `name` is the first word of the log events.
 */
export async function settleJobFailure(
  { workQueue, store, logger }: JobFailureDependencies,
  { name, job, rules }: { readonly name: string; readonly job: ClaimedJob; readonly rules: JobFailureRules },
  error: unknown,
): Promise<void> {
  const fields = { jobId: job.id, kind: job.kind, attempt: job.attempt };
  if (error instanceof LeaseLostError) {
    logger.warn(`${name}.lease.lost`, { ...fields, reason: error.message });
    return;
  }
  if (error instanceof HandOverError) return handOver(workQueue, job);
  const decision = rules.decide(error, job);
  const fate = decision === 'retry' && job.attempt >= job.maxAttempts ? 'dead' : decision;
  await rules.record?.(job, error, fate);
  if (fate === 'end') {
    await store.commit(job.scope, workQueue.completeWrites(job));
    logger[isRefusal(error) ? 'info' : 'error'](`${name}.job.ended`, { ...fields, error });
    return;
  }
  const { errorClass, message } = describeRunError(error);
  await workQueue.fail(job, { name: errorClass, message }, { retry: fate === 'retry' });
  if (fate === 'retry') logger.warn(`${name}.job.postponed`, { ...fields, error });
  else logger.error(`${name}.job.failed`, { ...fields, error });
}

/** The request is at fault, not the service: another attempt fails as well. */
export function isRefusal(error: unknown): boolean {
  return isEngramError(error) && error.status < 500;
}
