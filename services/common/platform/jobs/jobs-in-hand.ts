import type { Logger } from '../../ports/logger.ts';
import type { ClaimedJob } from '../../ports/work-queue.ts';
import { holdLease, type JobLease, type LeaseDependencies } from './job-lease.ts';

/** The claimed jobs that this process works on, each under a lease that is kept alive until its work is over. */
export interface JobsInHand {
  count(): number;
  take(job: ClaimedJob): void;
  /** Looks now whether they are still held and wanted. */
  beat(): void;
  /** Aborts the leases of those that are meant. */
  abort(reason: Error, isMeant: (job: ClaimedJob) => boolean): void;
  /** When those that are in hand now are in hand no more. */
  allEnded(): Promise<unknown>;
}

export interface JobsInHandOptions extends LeaseDependencies {
  readonly logger: Logger;
  /** First word of the events in the log. */
  readonly name: string;
  readonly leaseMs: number;
  /** See `JobWorkerOptions`. */
  drive(job: ClaimedJob, lease: JobLease): Promise<void>;
  /** After each job. */
  onEnded(): void;
}

interface JobInHand {
  readonly job: ClaimedJob;
  readonly lease: JobLease;
}

export function createJobsInHand(options: JobsInHandOptions): JobsInHand {
  const { logger, name, leaseMs } = options;
  const inHand = new Map<JobInHand, Promise<void>>();
  const carry = async ({ job, lease }: JobInHand): Promise<void> => {
    try {
      await options.drive(job, lease);
    } catch (error) {
      logger.warn(`${name}.job.unsettled`, { jobId: job.id, error });
    }
    await lease[Symbol.asyncDispose]();
  };
  return {
    count: () => inHand.size,
    take(job) {
      const taken = { job, lease: holdLease(options, job, leaseMs) };
      const ended = carry(taken).finally(() => {
        inHand.delete(taken);
        options.onEnded();
      });
      inHand.set(taken, ended);
    },
    beat() {
      for (const { lease } of inHand.keys()) lease.beat();
    },
    abort(reason, isMeant) {
      for (const { job, lease } of inHand.keys()) if (isMeant(job)) lease.abort(reason);
    },
    allEnded: () => Promise.all(inHand.values()),
  };
}
