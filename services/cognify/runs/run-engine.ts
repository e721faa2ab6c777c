import { billOf, payerOf } from '../../common/domain/budget.ts';
import type { RunOrigin, RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { createJobWorker, type JobHandler } from '../../common/platform/jobs/job-worker.ts';
import type { RunRecorder } from '../../common/platform/jobs/run-recorder.ts';
import type { WatchedWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import type { RunJob } from '../../common/platform/messaging/jobs.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Budgets } from '../../common/ports/budgets.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { Tracer } from '../../common/ports/tracer.ts';
import type { RunExtraction, Runs } from '../../common/records/cognify/runs.ts';
import type { DocumentStore, Write } from '../../common/storage/ports/document-store.ts';
import { cancelRuns } from './cancel-runs.ts';
import { driveRun } from './drive-run.ts';
import type { RunExecutor } from './run-executor.ts';
import { createRunReaper } from './run-reaper.ts';
import type { RunSettings } from './run-settings.ts';

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

export interface RunRequest {
  /** Kind of the executor. */
  readonly kind: string;
  readonly pipeline: string;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly options: JsonObject;
  readonly background: boolean;
  /** Kept with the run, when its job is gone. */
  readonly extraction?: RunExtraction;
  readonly origin?: RunOrigin;
  /** Committed with the run. */
  readonly also?: (run: RunId) => readonly Write[];
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

export function createRunEngine(dependencies: RunEngineDependencies): RunEngine {
  const { workQueue, logger, executors, settings } = dependencies;
  const { maxConcurrentRuns, maxStalledClaims, onStoreFailure, onStop } = settings;
  const driving = { ...dependencies, maxStalledClaims, onStoreFailure };
  const reaper = createRunReaper(dependencies);
  const shutdown = () => engramError('CancelledError', 'The server is shutting down.');
  const worker = createJobWorker(dependencies, {
    name: 'run',
    handlers: Object.fromEntries(
      executors.map((executor) => [
        executor.kind,
        { drive: (job, lease) => driveRun(driving, executor, job, lease) } satisfies JobHandler,
      ]),
    ),
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
      void workQueue.wake(request.kind).catch((error: unknown) => logger.warn('run.wake.failed', { error }));
      return state;
    },
    async cancelDataset(scope, waitMs) {
      const reason = engramError('CancelledError', 'The dataset is being deleted.');
      worker.abort(reason, (job) => (job.payload as RunJob).datasetId === scope.dataset);
      await cancelRuns(dependencies, scope, { reason, waitMs });
    },
  };
}

/** Writes the run and its job together. */
async function record(
  { kind, pipeline, principal, dataset, options, background, extraction, origin, also }: RunRequest,
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
  const run = {
    id,
    pipeline,
    dataset,
    userId: principal.id,
    background,
    ...(extraction === undefined ? {} : { extraction }),
    ...(origin === undefined ? {} : { origin }),
  };
  const startedWith = (scope: DatasetScope, charged: readonly Write[]) => {
    const { jobId, writes } = workQueue.enqueueWrites(scope, job);
    return { jobId, writes: [...writes, ...charged, ...(also?.(id) ?? [])] };
  };
  if (budgets === undefined) return recorder.started(run, (scope) => startedWith(scope, []));
  const payer = payerOf(principal);
  return budgets.charge(billOf(payer, { concurrentRuns: 1 }), (charged) =>
    recorder.started({ ...run, paidBy: payer.accounts }, (scope) => startedWith(scope, charged)),
  );
}
