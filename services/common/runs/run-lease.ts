import { engramError } from '../domain/errors.ts';
import type { Logger } from '../ports/logger.ts';
import type { Clock } from '../ports/system.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../ports/work-queue.ts';

/** Keeps a claimed job alive and tells when it must be let go. */
export interface RunLease extends AsyncDisposable {
  /** Aborted with `LeaseLostError`, with `CancelledError` on request, or with what `abort` was given. */
  readonly signal: AbortSignal;
  /** Looks now whether the job is still held and wanted, as it does from time to time anyway. */
  beat(): void;
  abort(reason: Error): void;
}

export interface LeaseDependencies {
  readonly workQueue: Pick<WorkQueue, 'heartbeat'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}

/**
 * Beats three times per lease. A beat that fails for another reason than a lost lease is only logged, until the lease is
 * over: from then on another worker may have the job.
 */
export function holdLease({ workQueue, clock, logger }: LeaseDependencies, job: ClaimedJob, leaseMs: number): RunLease {
  const controller = new AbortController();
  let heldUntilMs = clock.monotonicMs() + leaseMs;
  let beating: Promise<void> | null = null;
  const cancel = () => controller.abort(engramError('CancelledError', 'The run was cancelled.'));
  const isOver = () => clock.monotonicMs() >= heldUntilMs;
  const giveUp = () => controller.abort(new LeaseLostError(`job ${job.id}: no sign of life went through for a lease`));
  const beat = async (): Promise<void> => {
    const startedMs = clock.monotonicMs();
    try {
      const { cancelRequested } = await workQueue.heartbeat(job, leaseMs);
      heldUntilMs = startedMs + leaseMs;
      if (cancelRequested) cancel();
    } catch (error) {
      if (error instanceof LeaseLostError) {
        // Only a worker whose clock is ahead of ours by what is left can have seen the lease end.
        const leftMs = Math.round(heldUntilMs - clock.monotonicMs());
        if (error.isTaken && leftMs > 0) logger.error('run.lease.taken_early', { jobId: job.id, leftMs, hint: CLOCKS });
        return controller.abort(error);
      }
      logger.warn('run.heartbeat.failed', { error, jobId: job.id });
      if (isOver()) giveUp();
    }
  };
  const tick = (): void => {
    // One that hangs is as bad as one that fails; after a pause of this process itself, a beat tells how things are.
    if (beating !== null && isOver()) giveUp();
    beating ??= beat().finally(() => {
      beating = null;
    });
  };
  if (job.cancelRequested) cancel();
  const timer = setInterval(tick, leaseMs / 3);
  timer.unref();
  return {
    signal: controller.signal,
    beat: tick,
    abort: (reason) => controller.abort(reason),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await beating;
    },
  };
}

const CLOCKS = 'The clocks of the workers differ by more than a lease: set them by NTP.';
