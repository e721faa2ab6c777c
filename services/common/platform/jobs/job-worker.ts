import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Clock, IdSource } from '../../ports/system.ts';
import type { ClaimedJob, WorkQueue } from '../../ports/work-queue.ts';
import type { Subscription } from '../../storage/ports/bus.ts';
import { settlesWithin } from '../async/time-limit.ts';
import { createWakeUp } from '../async/wake-up.ts';
import { createFaultMemory } from './fault-memory.ts';
import { HandOverError } from './hand-over.ts';
import type { JobLease } from './job-lease.ts';
import { createJobsInHand } from './jobs-in-hand.ts';
import type { WatchedWorkQueue } from './work-queue.ts';
import type { WorkWatch } from './work-watch.ts';

/** Takes jobs from the queue and has them driven, several at a time, each under a lease that is kept alive. */
export interface JobWorker {
  start(): Promise<void>;
  /**
   * Takes no new job, aborts those in hand and waits for them, for at most `drainMs`. Never throws; once, however often it
   * is asked.
   */
  stop(): Promise<void>;
  /** There is a job, or may be one: looks without waiting for the next poll. */
  notify(): void;
  /** Aborts the leases of those jobs in hand that are meant. */
  abort(reason: Error, isMeant: (job: ClaimedJob) => boolean): void;
}

export interface JobWorkerDependencies {
  readonly workQueue: Pick<WorkQueue, 'claim' | 'heartbeat'> & Pick<WatchedWorkQueue, 'watch' | 'watchCancels'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly ids: Pick<IdSource, 'uuid'>;
  readonly logger: Logger;
}

export interface JobWorkerSettings {
  /** A worker that shows no sign of life for so long has lost its jobs. */
  readonly leaseMs: number;
  /** How often it looks for jobs without having been told of one. */
  readonly pollMs: number;
  /** Jobs in hand at the same time. */
  readonly maxConcurrent: number;
  /** How long stopping waits for those in hand. */
  readonly drainMs: number;
}

export interface JobWorkerOptions {
  /** First word of its events in the log. */
  readonly name: string;
  readonly kinds: readonly string[];
  readonly settings: JobWorkerSettings;
  /**
   * Takes a claimed job to its end, or puts it back, and is done soon after the signal of the lease is aborted. When it
   * throws, the job stays as it is: the lease lapses, and another claim goes on with it.
   */
  drive(job: ClaimedJob, lease: JobLease): Promise<void>;
  /** With what jobs in hand are aborted at the stop. Default: `HandOverError`. */
  readonly stopReason?: () => Error;
}

export function createJobWorker(dependencies: JobWorkerDependencies, options: JobWorkerOptions): JobWorker {
  const { workQueue } = dependencies;
  const { name, kinds, settings, drive, stopReason = () => new HandOverError('The worker is stopping.') } = options;
  const claim = createClaim(dependencies, options);
  const wakeUp = createWakeUp();
  const jobs = createJobsInHand({
    ...{ ...dependencies, name, drive, leaseMs: settings.leaseMs },
    onEnded: wakeUp.notify,
  });
  const stopping = new AbortController();
  let watch: WorkWatch | null = null;
  let cancels: Subscription | null = null;
  let loops: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const job = jobs.count() < settings.maxConcurrent ? await claim() : null;
      if (job === null) await wakeUp.wait(settings.pollMs, stopping.signal);
      else jobs.take(job);
    }
  };
  const relay = async (news: WorkWatch): Promise<void> => {
    while (!stopping.signal.aborted) {
      await news.wait(stopping.signal);
      wakeUp.notify();
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
      watch = (await workQueue.watch?.(kinds)) ?? null;
      cancels = (await workQueue.watchCancels?.(jobs.beat)) ?? null;
      loops = Promise.all([work(), ...(watch === null ? [] : [relay(watch)])]);
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
    notify: wakeUp.notify,
    abort: jobs.abort,
  };
}

/** Takes the next job; null when there is none, and when the store fails: the next poll asks again. */
function createClaim(
  { workQueue, ids, logger }: JobWorkerDependencies,
  { name, kinds, settings }: JobWorkerOptions,
): () => Promise<ClaimedJob | null> {
  const worker = ids.uuid();
  const faults = createFaultMemory();
  return async () => {
    try {
      const job = await workQueue.claim(SYSTEM_SCOPE, kinds, worker, settings.leaseMs);
      faults.forget();
      return job;
    } catch (error) {
      if (faults.isNews(error)) logger.error(`${name}.claim.failed`, { error });
      return null;
    }
  };
}
