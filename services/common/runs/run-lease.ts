import { engramError } from '../domain/errors.ts';
import type { Logger } from '../ports/logger.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../ports/work-queue.ts';

/** Keeps a claimed job alive and tells when it must be let go. */
export interface RunLease extends AsyncDisposable {
  /** Aborted with `LeaseLostError`, with `CancelledError` on request, or with what `abort` was given. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
}

/** Beats three times per lease; a beat that fails for another reason than a lost lease is only logged. */
export function holdLease(queue: WorkQueue, job: ClaimedJob, leaseMs: number, logger: Logger): RunLease {
  const controller = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  const beat = async (): Promise<void> => {
    try {
      const { cancelRequested } = await queue.heartbeat(job, leaseMs);
      if (cancelRequested) controller.abort(engramError('CancelledError', 'The run was cancelled.'));
    } catch (error) {
      if (error instanceof LeaseLostError) controller.abort(error);
      else logger.warn('run.heartbeat.failed', { error, jobId: job.id });
    }
  };
  const timer = setInterval(() => {
    beating = beat();
  }, leaseMs / 3);
  timer.unref();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await beating;
    },
  };
}
