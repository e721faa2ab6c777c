import { engramError } from '../../kernel/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../../ports/work-queue.ts';
import { createHeartbeat } from '../leases/heartbeat.ts';

/** The lease of a claimed job, renewed until it is disposed. */
export interface JobLease extends AsyncDisposable {
  /** Aborted with `LeaseLostError`, with `CancelledError` on request, or with what `abort` was given. */
  readonly signal: AbortSignal;
  /** Renews the lease now, beside the regular renewals; notices a lost lease and a cancelled job. */
  beat(): void;
  abort(reason: Error): void;
}

interface LeaseDependencies {
  readonly workQueue: Pick<WorkQueue, 'heartbeat'>;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/**
 * Renews the lease three times during its term. A renewal that fails for another reason than a lost lease is only logged, until
 * the lease is over: another worker may have the job then.
 */
export function holdLease({ workQueue, clock, logger }: LeaseDependencies, job: ClaimedJob, leaseMs: number): JobLease {
  const controller = new AbortController();
  const cancel = () => controller.abort(engramError('CancelledError', 'The run was cancelled.'));
  const heartbeat = createHeartbeat({
    clock,
    leaseMs,
    everyMs: leaseMs / 3,
    heldSinceMs: clock.monotonicMs(),
    afterPause: 'beat',
    async extend() {
      const { cancelRequested } = await workQueue.heartbeat(job, leaseMs);
      if (cancelRequested) cancel();
    },
    onFailed(error, leftMs) {
      if (!(error instanceof LeaseLostError)) {
        logger.warn('job.heartbeat.failed', { error, jobId: job.id });
        return;
      }
      // The clock of the other worker is ahead of ours by the rest of the lease, or more.
      if (error.isTaken && leftMs > 0) {
        logger.error('job.lease.taken_early', { jobId: job.id, leftMs: Math.round(leftMs), hint: CLOCKS });
      }
      controller.abort(error);
    },
    onOver: () =>
      controller.abort(new LeaseLostError(`job ${job.id}: no heartbeat succeeded during the term of the lease`)),
  });
  if (job.cancelRequested) cancel();
  return {
    signal: controller.signal,
    beat: heartbeat.beat,
    abort: (reason) => controller.abort(reason),
    [Symbol.asyncDispose]: heartbeat.stop,
  };
}

const CLOCKS = 'The clocks of the workers differ by more than a lease: set them by NTP.';
