import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { Logger } from '../../ports/logger.ts';
import type { MonotonicClock, UuidSource } from '../../ports/system.ts';
import { type ClaimedJob, LeaseLostError, type NewJob } from '../../ports/work-queue.ts';
import type { Subscription } from '../../storage/ports/bus.ts';
import type { DocumentWriter, Write } from '../../storage/ports/document-store.ts';
import { settlesWithin } from '../async/time-limit.ts';
import { createWakeUp } from '../async/wake-up.ts';
import { createErrorDeduplicator } from './error-deduplicator.ts';
import { HandOverError, type JobFailureRules, settleJobFailure } from './job-failure.ts';
import { holdLease, type JobLease } from './job-lease.ts';
import type { WatchedWorkQueue, WorkWatch } from './work-queue.ts';

/** Takes jobs from the queue and has them driven, several at a time, each under a lease that is kept alive. */
export type JobWorker = ReturnType<typeof createJobWorker>;

export interface JobWorkerDependencies {
  readonly workQueue: WatchedWorkQueue;
  readonly store: DocumentWriter;
  readonly clock: MonotonicClock;
  readonly ids: UuidSource;
  readonly logger: Logger;
}

export interface JobWorkerSettings {
  /** A worker that shows no sign of life for so long has lost its jobs. */
  readonly leaseMs: number;
  /** Interval of looking for jobs without a message about one. */
  readonly pollMs: number;
  /** Jobs that it takes by itself at the same time. */
  readonly maxConcurrent: number;
  /** How long stopping waits for those in flight. */
  readonly drainMs: number;
}

export interface JobHandler {
  /** Takes a claimed job to its end, or puts it back, and is done soon after the signal of the lease is aborted. */
  drive(job: ClaimedJob, lease: JobLease): Promise<void>;
  /**
   * Rules for what `drive` throws, or the signal was aborted with. Without rules the job stays as it is: its lease lapses, and
   * another claim goes on with it.
   */
  readonly failures?: JobFailureRules;
}

export interface JobWorkerOptions {
  /** First word of its events in the log. */
  readonly name: string;
  /** Handlers by kind of job, read at the start; no other kinds are taken. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly settings: JobWorkerSettings;
  /** Reason with which the stop aborts jobs in flight. Default: `HandOverError`. */
  readonly stopReason?: () => Error;
}

export function createJobWorker(dependencies: JobWorkerDependencies, options: JobWorkerOptions) {
  const { workQueue, store } = dependencies;
  const { handlers, settings, stopReason = () => new HandOverError('The worker is stopping.') } = options;
  const worker = dependencies.ids.uuid();
  const claim = createClaim(dependencies, { ...options, worker });
  const wakeUp = createWakeUp();
  const jobs = createInFlightJobs(dependencies, options);
  const stopping = new AbortController();
  let taken = 0;
  let watch: WorkWatch | null = null;
  let cancels: Subscription | null = null;
  let loops: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  const take = async (job: ClaimedJob): Promise<void> => {
    const handler = handlers[job.kind];
    if (handler === undefined) throw new Error(`claimed a job of kind ${job.kind}`);
    taken += 1;
    await jobs.drive(job, handler);
    taken -= 1;
    wakeUp.notify();
  };
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const job = taken < settings.maxConcurrent ? await claim() : null;
      if (job === null) await wakeUp.wait(settings.pollMs, stopping.signal);
      else void take(job);
    }
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([loops, watch?.stop(), cancels?.stop()]);
    jobs.abort(stopReason(), () => true);
    await settlesWithin(jobs.allEnded(), settings.drainMs);
  };
  return {
    async start() {
      watch = (await workQueue.watch?.(Object.keys(handlers))) ?? null;
      cancels = (await workQueue.watchCancels?.(jobs.beat)) ?? null;
      loops = Promise.all([work(), ...(watch === null ? [] : [relay(watch, wakeUp, stopping.signal)])]);
    },
    /**
     * Takes no new job, aborts those in flight and waits for them, for at most `drainMs`. Never throws; once, however often it
     * is asked.
     */
    stop() {
      stopped ??= stop();
      return stopped;
    },
    /** There is a job, or may be one: looks without waiting for the next poll. */
    notify: wakeUp.notify,
    /** Aborts the leases of the selected jobs in flight. */
    abort: jobs.abort,
    /**
     * Drives one job here and now, whether it waits for its back-off or was given up, with what only the caller knows. Resolves
     * when this attempt has ended; false, at once, when there is no such job, when another worker holds it, or after `stop`.
     */
    async run(jobId: string, handler: JobHandler) {
      if (stopping.signal.aborted) return false;
      const job = await workQueue.claimJob(SYSTEM_SCOPE, jobId, worker, settings.leaseMs);
      if (job !== null) await jobs.drive(job, handler);
      return job !== null;
    },
    /**
     * Commits `writes` with a new job and drives it here: its first attempt is under way when this resolves, and the queue goes
     * on with it when this process dies. Errors: those of the commit.
     */
    async begin(scope: Scope, newJob: NewJob, handler: JobHandler, writes: readonly Write[] = []) {
      const begun = workQueue.beginWrites(scope, newJob, worker, settings.leaseMs);
      await store.commit(scope, [...begun.writes, ...writes]);
      void jobs.drive(begun.job, handler);
    },
    /** Aborted by `stop`. */
    stopping: stopping.signal,
  };
}

/** Wakes the worker when another process queues a job. */
async function relay(news: WorkWatch, wakeUp: ReturnType<typeof createWakeUp>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await news.wait(signal);
    wakeUp.notify();
  }
}

const SETTLE_AGAIN_MS = 1000;

/** Takes the next job; null when there is none, and when the store fails: the next poll asks again. */
function createClaim(
  { workQueue, logger }: JobWorkerDependencies,
  { name, settings, handlers, worker }: JobWorkerOptions & { readonly worker: string },
): () => Promise<ClaimedJob | null> {
  const faults = createErrorDeduplicator();
  return async () => {
    try {
      const job = await workQueue.claim(SYSTEM_SCOPE, Object.keys(handlers), worker, settings.leaseMs);
      faults.forget();
      return job;
    } catch (error) {
      if (faults.isNew(error)) logger.error(`${name}.claim.failed`, { error });
      return null;
    }
  };
}

/** The claimed jobs that this process works on, each under a lease that is kept alive until its work is over. */
function createInFlightJobs(dependencies: JobWorkerDependencies, { name, settings }: JobWorkerOptions) {
  const { logger } = dependencies;
  const inFlight = new Map<JobLease, { readonly job: ClaimedJob; readonly ended: Promise<void> }>();
  /** The store may be what failed: tries to settle until it works again, or until the lease is over. */
  const settle = async (job: ClaimedJob, { signal }: JobLease, rules: JobFailureRules, error: unknown) => {
    for (;;) {
      try {
        return await settleJobFailure(dependencies, { name, job, rules }, signal.aborted ? signal.reason : error);
      } catch (unsettled) {
        if (signal.aborted || unsettled instanceof LeaseLostError) throw unsettled;
      }
      await sleep(SETTLE_AGAIN_MS, undefined, { signal, ref: false }).catch(() => null);
    }
  };
  const carryOut = async (job: ClaimedJob, lease: JobLease, { drive, failures }: JobHandler): Promise<void> => {
    try {
      await drive(job, lease).catch((error: unknown) => {
        if (failures === undefined) throw error;
        return settle(job, lease, failures, error);
      });
    } catch (error) {
      logger.warn(`${name}.job.unsettled`, { jobId: job.id, error });
    }
    await lease[Symbol.asyncDispose]();
  };
  return {
    /** Never rejects. */
    drive(job: ClaimedJob, handler: JobHandler): Promise<void> {
      const lease = holdLease(dependencies, job, settings.leaseMs);
      const ended = carryOut(job, lease, handler).finally(() => inFlight.delete(lease));
      inFlight.set(lease, { job, ended });
      return ended;
    },
    /** Looks now whether they are still held and wanted. */
    beat() {
      for (const lease of inFlight.keys()) lease.beat();
    },
    abort(reason: Error, isSelected: (job: ClaimedJob) => boolean) {
      for (const [lease, { job }] of inFlight) if (isSelected(job)) lease.abort(reason);
    },
    /** Resolves when the jobs in flight have ended. */
    allEnded: () => Promise.all([...inFlight.values()].map(({ ended }) => ended)),
  };
}
