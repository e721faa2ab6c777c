import { setTimeout as sleep } from 'node:timers/promises';
import { billOf, payerOf } from '../../common/domain/budget.ts';
import type { RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating, type Repeating } from '../../common/platform/async/repeating.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import { createJobWorker } from '../../common/platform/jobs/job-worker.ts';
import { describeRunError, type RunRecorder } from '../../common/platform/jobs/run-recorder.ts';
import type { WatchedWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import type { RunJob } from '../../common/platform/messaging/jobs.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Budgets } from '../../common/ports/budgets.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { Tracer } from '../../common/ports/tracer.ts';
import { UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import { datasetOf, type Runs, type StoredRun } from '../../common/records/cognify/runs.ts';
import { type DocumentStore, VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { RunEngine, RunExecutor, RunRequest } from '../model.ts';
import type { RunSettings } from '../settings.ts';
import { driveRun } from './drive-run.ts';

interface RunEngineDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly budgets: Budgets;
  readonly workQueue: WatchedWorkQueue;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly executor: RunExecutor;
  readonly settings: RunSettings;
}

export function createRunEngine(dependencies: RunEngineDependencies): RunEngine {
  const { workQueue, logger, executor, settings } = dependencies;
  const { maxConcurrentRuns, maxStalledClaims, onStoreFailure, onStop } = settings;
  const driving = { ...dependencies, maxStalledClaims, onStoreFailure };
  const reaper = createRunReaper(dependencies);
  const shutdown = () => engramError('CancelledError', 'The server is shutting down.');
  const worker = createJobWorker(dependencies, {
    name: 'run',
    handlers: { [executor.kind]: { drive: (job, lease) => driveRun(driving, executor, job, lease) } },
    settings: { ...settings, maxConcurrent: maxConcurrentRuns },
    ...(onStop === 'cancel' ? { stopReason: shutdown } : {}),
  });
  return {
    async start() {
      reaper.start();
      await worker.start();
    },
    async stop() {
      await Promise.all([reaper.stop(), worker.stop()]);
    },
    async submit(request) {
      const state = await record(request, dependencies);
      worker.notify();
      void workQueue.wake(executor.kind).catch((error: unknown) => logger.warn('run.wake.failed', { error }));
      return state;
    },
    async cancelDataset(scope, waitMs) {
      const reason = engramError('CancelledError', 'The dataset is being deleted.');
      worker.abort(reason, (job) => (job.payload as RunJob).datasetId === scope.dataset);
      await cancelRuns(dependencies, scope, { reason, waitMs });
    },
  };
}

/** Writes the run and its job in one commit, and charges it to the budgets of its user. */
function record(
  { pipeline, principal, dataset, options, background, extraction, origin, also }: RunRequest,
  { ids, recorder, workQueue, budgets, tracer, executor }: RunEngineDependencies,
): Promise<RunState> {
  const id = asId<RunId>(ids.uuid());
  const trace = tracer.carried();
  const payer = payerOf(principal);
  const payload: RunJob = {
    runId: id,
    datasetId: dataset.id,
    userId: principal.id,
    userTenant: principal.tenant,
    options,
    ...(trace === undefined ? {} : { trace }),
  };
  const job = {
    kind: executor.kind,
    payload,
    orderingKey: dataset.id,
    idempotencyKey: id,
    // The engine counts attempts without progress itself: a long run may survive any number of restarts.
    maxAttempts: UNLIMITED_ATTEMPTS,
  };
  const run = {
    id,
    pipeline,
    dataset,
    userId: principal.id,
    background,
    paidBy: payer.accounts,
    ...(extraction === undefined ? {} : { extraction }),
    ...(origin === undefined ? {} : { origin }),
  };
  return budgets.charge(billOf(payer, { concurrentRuns: 1 }), (charged) =>
    recorder.started(run, (scope) => {
      const { jobId, writes } = workQueue.enqueueWrites(scope, job);
      return { jobId, writes: [...writes, ...charged, ...(also?.(id) ?? [])] };
    }),
  );
}

const REAPED_TOGETHER = 200;

/**
 * Closes runs that stay STARTED without a job, because their recorder died between start and end. Runs at start and then at
 * intervals. A run with a job is never touched: its next claim continues it.
 */
function createRunReaper(dependencies: RunEngineDependencies): Repeating {
  const { runs, recorder, clock, logger, settings } = dependencies;
  const createdAt = clock.now().getTime();
  const close = async (run: StoredRun): Promise<void> => {
    const { state } = run;
    const error = engramError(
      'AbandonedPipelineRunError',
      'The process that ran the pipeline is gone. What it had not stored has to be sent again.',
    );
    await recorder.ended(run, datasetOf(run), { error: describeRunError(error) });
    logger.warn('run.abandoned', { runId: state.id, pipeline: state.pipeline, startedAt: state.startedAt });
  };
  const reap = async (): Promise<void> => {
    const old = clock.now().getTime() - settings.abandonedAfterMs;
    const before = new Date(settings.ownsRecords ? Math.max(createdAt, old) : old).toISOString();
    const found = await runs.unfinished(SYSTEM_SCOPE, {
      startedBefore: before,
      withoutJob: true,
      limit: REAPED_TOGETHER,
    });
    for (const run of found) await close(run);
  };
  return createRepeating({
    work: reap,
    everyMs: settings.reapEveryMs,
    onError: (error) => logger.error('run.reaper.failed', { error }),
  });
}

const POLL_MS = 50;

/**
 * Ends every run of the dataset that has a job: at once when no worker has it, else by a request to its worker, in any
 * process. Resolves when none is left, or after `waitMs`: the run of a dead worker ends with its next claim.
 */
async function cancelRuns(
  dependencies: RunEngineDependencies,
  scope: DatasetScope,
  { reason, waitMs }: { readonly reason: Error; readonly waitMs: number },
): Promise<void> {
  const { runs, workQueue, clock } = dependencies;
  const untilMs = clock.monotonicMs() + waitMs;
  const requested = new Set<string>();
  for (;;) {
    let left = 0;
    for (const run of await runs.unfinished(scope, { limit: 1000 })) {
      if (run.jobId === null || (await withdraw(dependencies, run, 'queued', reason))) continue;
      const isRequested = requested.has(run.jobId) || (await workQueue.requestCancel(SYSTEM_SCOPE, run.jobId));
      if (isRequested) requested.add(run.jobId);
      else if (await withdraw(dependencies, run, 'dead', reason)) continue;
      left += 1;
    }
    if (left === 0 || clock.monotonicMs() >= untilMs) return;
    await sleep(POLL_MS);
  }
}

/** Ends a run together with its job; false when the job is not in this state. */
async function withdraw(
  { recorder, workQueue }: RunEngineDependencies,
  run: StoredRun,
  state: 'queued' | 'dead',
  reason: Error,
): Promise<boolean> {
  try {
    const writes = workQueue.withdrawWrites(run.jobId ?? '', state);
    await recorder.ended(run, datasetOf(run), { error: describeRunError(reason) }, writes);
    return true;
  } catch (error) {
    if (error instanceof VersionConflictError && error.collection === jobsCollection.name) return false;
    throw error;
  }
}
