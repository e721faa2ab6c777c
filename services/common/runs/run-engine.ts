import type { RunId } from '../domain/brand.ts';
import type { DatasetRef } from '../domain/dataset.ts';
import { engramError } from '../domain/errors.ts';
import { asId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Principal } from '../domain/principal.ts';
import type { RunState } from '../domain/run.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../domain/scope.ts';
import type { Messenger } from '../messaging/messenger.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Clock, IdSource } from '../ports/system.ts';
import type { ClaimedJob, WorkQueue } from '../ports/work-queue.ts';
import type { Runs } from '../repositories/runs.ts';
import { driveRun, type RunJob } from './drive-run.ts';
import { HandOverError, type RunExecutor } from './run-executor.ts';
import { holdLease, type RunLease } from './run-lease.ts';
import { createRunReaper } from './run-reaper.ts';
import type { RunRecorder } from './run-recorder.ts';
import type { RunSettings } from './run-settings.ts';
import { createWakeUp } from './wake-up.ts';
import type { DurableWorkQueue } from './work-queue.ts';
import type { WorkWatch } from './work-watch.ts';

export interface RunEngineDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly workQueue: WatchedWorkQueue;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly executors: readonly RunExecutor[];
  readonly settings: RunSettings;
}

/** With `watch`, runs that another process queued start at once; without, they cost one poll. */
export type WatchedWorkQueue = WorkQueue & Partial<Pick<DurableWorkQueue, 'watch'>>;

export interface RunRequest {
  /** Kind of the executor. */
  readonly kind: string;
  readonly pipeline: string;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly options: JsonObject;
  readonly background: boolean;
}

/**
 * Runs as durable jobs: one at a time per dataset, resumed under the same id when their worker is lost, never without a
 * terminal record (cognify-improve.md §2, architecture.md §6).
 */
export interface RunEngine {
  start(): Promise<void>;
  /** Takes no new run and ends or hands over those under way. Never throws; once, however often it is asked. */
  stop(): Promise<void>;
  /** Durable when it resolves: a run that was answered is never lost. */
  submit(request: RunRequest): Promise<RunState>;
  /** Asks every run of the dataset to stop, and waits for those of this process to end, for at most `waitMs`. */
  cancelDataset(scope: DatasetScope, waitMs: number): Promise<void>;
}

/** The engine counts attempts itself, by progress: a long run may survive any number of restarts. */
const MAX_JOB_ATTEMPTS = 1_000_000;

interface DrivenRun {
  readonly datasetId: string;
  readonly lease: RunLease;
  readonly ended: Promise<void>;
}

export function createRunEngine(dependencies: RunEngineDependencies): RunEngine {
  const { runs, recorder, workQueue, ids, logger, executors, settings } = dependencies;
  const byKind = new Map(executors.map((executor) => [executor.kind, executor]));
  const kinds = [...byKind.keys()];
  const worker = ids.uuid();
  const driven = new Set<DrivenRun>();
  const wakeUp = createWakeUp();
  const stopping = new AbortController();
  const reaper = createRunReaper(dependencies);
  let loop: Promise<void> = Promise.resolve();
  let relaying: Promise<void> = Promise.resolve();
  let watch: WorkWatch | null = null;
  let stopped: Promise<void> | undefined;

  const take = (job: ClaimedJob): void => {
    const executor = byKind.get(job.kind);
    if (executor === undefined) throw new Error(`claimed a job of kind ${job.kind}`);
    const { leaseMs, maxStalledClaims } = settings;
    const lease = holdLease(workQueue, job, leaseMs, logger);
    const driving = driveRun({ ...dependencies, maxStalledClaims }, executor, job, lease);
    const ended = driving.then(() => lease[Symbol.asyncDispose]());
    const run: DrivenRun = { datasetId: (job.payload as RunJob).datasetId, lease, ended };
    driven.add(run);
    void ended.finally(() => {
      driven.delete(run);
      wakeUp.notify();
    });
  };

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const isFull = driven.size >= settings.maxConcurrentRuns;
      const job = isFull ? null : await claim();
      if (job === null) await wakeUp.wait(settings.pollMs, stopping.signal);
      else take(job);
    }
  };
  const relay = async (news: WorkWatch): Promise<void> => {
    while (!stopping.signal.aborted) {
      await news.wait(stopping.signal);
      wakeUp.notify();
    }
  };
  let claimFault = '';
  const claim = async (): Promise<ClaimedJob | null> => {
    try {
      const job = await workQueue.claim(SYSTEM_SCOPE, kinds, worker, settings.leaseMs);
      claimFault = '';
      return job;
    } catch (error) {
      // Once: a full disk would otherwise fill the log with a line for each poll.
      const fault = String(error);
      if (fault !== claimFault) logger.error('run.claim.failed', { error });
      claimFault = fault;
      return null;
    }
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    await reaper.stop();
    await Promise.all([loop, relaying, watch?.stop()]);
    const reason =
      settings.onStop === 'cancel'
        ? engramError('CancelledError', 'The server is shutting down.')
        : new HandOverError('The worker is stopping.');
    for (const { lease } of driven) lease.abort(reason);
    await within(settings.drainMs, [...driven]);
  };

  return {
    async start() {
      reaper.start();
      watch = (await workQueue.watch?.(kinds)) ?? null;
      if (watch !== null) relaying = relay(watch);
      loop = work();
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
    async submit({ kind, pipeline, principal, dataset, options, background }) {
      const id = asId<RunId>(ids.uuid());
      const payload: RunJob = {
        runId: id,
        datasetId: dataset.id,
        userId: principal.id,
        userTenant: principal.tenant,
        options,
      };
      const job = { kind, payload, orderingKey: dataset.id, idempotencyKey: id, maxAttempts: MAX_JOB_ATTEMPTS };
      const run = { id, pipeline, dataset, userId: principal.id, background };
      const state = await recorder.started(run, (scope) => workQueue.enqueueWrites(scope, job));
      wakeUp.notify();
      void workQueue.wake(kind).catch((error: unknown) => logger.warn('run.wake.failed', { error }));
      return state;
    },
    async cancelDataset(scope, waitMs) {
      const unfinished = await runs.unfinished(scope, { limit: 1000 });
      for (const { jobId } of unfinished) if (jobId !== null) await workQueue.requestCancel(SYSTEM_SCOPE, jobId);
      const mine = [...driven].filter(({ datasetId }) => datasetId === scope.dataset);
      for (const { lease } of mine) lease.abort(engramError('CancelledError', 'The dataset is being deleted.'));
      await within(waitMs, mine);
    },
  };
}

async function within(limitMs: number, list: readonly DrivenRun[]): Promise<void> {
  if (list.length === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([Promise.all(list.map(({ ended }) => ended)), promise]);
  clearTimeout(timer);
}
