import type { RunId } from '../domain/brand.ts';
import { billOf, payerOf } from '../domain/budget.ts';
import type { DatasetRef } from '../domain/dataset.ts';
import { engramError } from '../domain/errors.ts';
import { asId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Principal } from '../domain/principal.ts';
import type { RunState } from '../domain/run.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../domain/scope.ts';
import type { RunJob } from '../messaging/jobs.ts';
import type { Messenger } from '../messaging/messenger.ts';
import type { Budgets } from '../ports/budgets.ts';
import type { Subscription } from '../ports/bus.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Clock, IdSource } from '../ports/system.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { ClaimedJob, WorkQueue } from '../ports/work-queue.ts';
import type { Runs } from '../repositories/runs.ts';
import { cancelRuns } from './cancel-runs.ts';
import { driveRun } from './drive-run.ts';
import { HandOverError, type RunExecutor } from './run-executor.ts';
import { holdLease, type RunLease } from './run-lease.ts';
import { createRunReaper } from './run-reaper.ts';
import type { RunRecorder } from './run-recorder.ts';
import type { RunSettings } from './run-settings.ts';
import { createWakeUp, type WakeUp } from './wake-up.ts';
import type { DurableWorkQueue } from './work-queue.ts';
import type { WorkWatch } from './work-watch.ts';

export interface RunEngineDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  /** Absent: runs are not charged. */
  readonly budgets?: Pick<Budgets, 'charge'>;
  readonly workQueue: WatchedWorkQueue;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
  readonly executors: readonly RunExecutor[];
  readonly settings: RunSettings;
}

/** With them, runs that another process queued or cancelled start or end at once; without, that costs a poll or a heartbeat. */
export type WatchedWorkQueue = WorkQueue & Partial<Pick<DurableWorkQueue, 'watch' | 'watchCancels'>>;

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
  /**
   * Durable when it resolves: a run that was answered is never lost. `TooManyRequestsError` when the caller's budgets allow
   * no further run at the same time.
   */
  submit(request: RunRequest): Promise<RunState>;
  /** Ends the runs of the dataset that wait, asks those under way to stop, in any process, and waits for them, for at most `waitMs`. */
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
  const { workQueue, logger, executors, settings } = dependencies;
  const byKind = new Map(executors.map((executor) => [executor.kind, executor]));
  const kinds = [...byKind.keys()];
  const claim = createClaim(dependencies, kinds);
  const driven = new Set<DrivenRun>();
  const wakeUp = createWakeUp();
  const stopping = new AbortController();
  const reaper = createRunReaper(dependencies);
  let loop: Promise<void> = Promise.resolve();
  let relaying: Promise<void> = Promise.resolve();
  let watch: WorkWatch | null = null;
  let cancels: Subscription | undefined;
  let stopped: Promise<void> | undefined;

  const take = (job: ClaimedJob): void => {
    const executor = byKind.get(job.kind);
    if (executor === undefined) throw new Error(`claimed a job of kind ${job.kind}`);
    const { leaseMs, maxStalledClaims, onStoreFailure } = settings;
    const lease = holdLease(dependencies, job, leaseMs);
    const driving = driveRun({ ...dependencies, maxStalledClaims, onStoreFailure }, executor, job, lease);
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

  const stop = async (): Promise<void> => {
    stopping.abort();
    await reaper.stop();
    await Promise.all([loop, relaying, watch?.stop(), cancels?.stop()]);
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
      cancels = await workQueue.watchCancels?.(() => {
        for (const { lease } of driven) lease.beat();
      });
      if (watch !== null) relaying = relay(watch, wakeUp, stopping.signal);
      loop = work();
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
    async submit(request) {
      const state = await record(request, dependencies);
      wakeUp.notify();
      void workQueue.wake(request.kind).catch((error: unknown) => logger.warn('run.wake.failed', { error }));
      return state;
    },
    async cancelDataset(scope, waitMs) {
      const reason = engramError('CancelledError', 'The dataset is being deleted.');
      for (const { lease, datasetId } of driven) if (datasetId === scope.dataset) lease.abort(reason);
      await cancelRuns(dependencies, scope, { reason, waitMs });
    },
  };
}

async function relay(news: WorkWatch, wakeUp: WakeUp, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await news.wait(signal);
    wakeUp.notify();
  }
}

/** Takes the next job; null when there is none, and when the store fails: the next poll asks again. */
function createClaim(dependencies: RunEngineDependencies, kinds: readonly string[]): () => Promise<ClaimedJob | null> {
  const { workQueue, ids, logger, settings } = dependencies;
  const worker = ids.uuid();
  let lastFault = '';
  return async () => {
    try {
      const job = await workQueue.claim(SYSTEM_SCOPE, kinds, worker, settings.leaseMs);
      lastFault = '';
      return job;
    } catch (error) {
      // Once: a full disk would otherwise fill the log with a line for each poll.
      const fault = String(error);
      if (fault !== lastFault) logger.error('run.claim.failed', { error });
      lastFault = fault;
      return null;
    }
  };
}

/** Writes the run and its job together. */
async function record(
  { kind, pipeline, principal, dataset, options, background }: RunRequest,
  { ids, recorder, workQueue, budgets, tracer }: RunEngineDependencies,
): Promise<RunState> {
  const id = asId<RunId>(ids.uuid());
  const trace = tracer?.carried();
  const payload: RunJob = {
    runId: id,
    datasetId: dataset.id,
    userId: principal.id,
    userTenant: principal.tenant,
    options,
    ...(trace === undefined ? {} : { trace }),
  };
  const job = { kind, payload, orderingKey: dataset.id, idempotencyKey: id, maxAttempts: MAX_JOB_ATTEMPTS };
  const run = { id, pipeline, dataset, userId: principal.id, background };
  if (budgets === undefined) return recorder.started(run, (scope) => workQueue.enqueueWrites(scope, job));
  const payer = payerOf(principal);
  return budgets.charge(billOf(payer, { concurrentRuns: 1 }), (charged) =>
    recorder.started({ ...run, paidBy: payer.accounts }, (scope) => {
      const { jobId, writes } = workQueue.enqueueWrites(scope, job);
      return { jobId, writes: [...writes, ...charged] };
    }),
  );
}

async function within(limitMs: number, list: readonly DrivenRun[]): Promise<void> {
  if (list.length === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([Promise.all(list.map(({ ended }) => ended)), promise]);
  clearTimeout(timer);
}
