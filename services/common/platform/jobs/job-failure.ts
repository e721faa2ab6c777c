import { isEngramError } from '../../kernel/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../../ports/work-queue.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import { describeRunError } from './run-recorder.ts';

/** The worker stops and gives the job to another one: nothing is recorded. */
export class HandOverError extends Error {
  override readonly name = 'HandOverError';
}

/** Gives a job back that another worker can take at once, without counting this attempt. `LeaseLostError` when one has it. */
export async function handOver(workQueue: Pick<WorkQueue, 'release' | 'wake'>, job: ClaimedJob): Promise<void> {
  await workQueue.release(job);
  await workQueue.wake(job.kind).catch(() => null); // a lost one costs a poll
}

/** What becomes of a job whose work failed. */
export interface JobFailureRules {
  /**
   * `retry`: again after its back-off, and a dead letter after its last attempt. `dead`: a dead letter now. `end`: it is over,
   * for no attempt can succeed.
   */
  decide(error: unknown, job: ClaimedJob): 'retry' | 'dead' | 'end';
  /** Completes the job together with the record of its failure. Default: it is only completed. */
  end?(job: ClaimedJob, error: unknown): Promise<void>;
  /** Called when the job has become a dead letter. */
  onDead?(job: ClaimedJob, error: unknown): Promise<void>;
}

export interface JobFailureDependencies {
  readonly workQueue: Pick<WorkQueue, 'fail' | 'release' | 'wake' | 'completeWrites'>;
  readonly store: Pick<DocumentStore, 'commit'>;
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
  if (decision === 'end') {
    logger[isRefusal(error) ? 'info' : 'error'](`${name}.job.ended`, { ...fields, error });
    if (rules.end !== undefined) await rules.end(job, error);
    else await store.commit(job.scope, workQueue.completeWrites(job));
    return;
  }
  const { errorClass, message } = describeRunError(error);
  const fate = await workQueue.fail(job, { name: errorClass, message }, { retry: decision === 'retry' });
  if (fate === 'retry') {
    logger.warn(`${name}.job.postponed`, { ...fields, error });
    return;
  }
  logger.error(`${name}.job.failed`, { ...fields, error });
  await rules.onDead?.(job, error);
}

/** The request is at fault, not the service. */
function isRefusal(error: unknown): boolean {
  return isEngramError(error) && error.status < 500;
}
