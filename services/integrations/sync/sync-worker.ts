import { setTimeout as sleep } from 'node:timers/promises';
import type { DatasetId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { authoriseJob, type JobAuthority } from '../../common/platform/jobs/job-authority.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker, type JobWorker } from '../../common/platform/jobs/job-worker.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
import { NO_TRACER, type TraceRoot } from '../../common/ports/tracer.ts';
import { type ClaimedJob, LeaseLostError, type NewJob, UNLIMITED_ATTEMPTS } from '../../common/ports/work-queue.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import {
  hasEnded,
  type SyncChange,
  type SyncCounts,
  type SyncRun,
  type SyncStatus,
} from '../../common/records/integrations/sync-runs.ts';
import { type SyncDue, syncStateCollections } from '../../common/records/integrations/sync-state.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { syncDataset } from './sync-dataset.ts';

export const SYNC_JOB = 'sync';

/**
 * The job of a sync run. Its worker counts the attempts and ends the run: a dead letter would keep its user from ever syncing
 * again.
 */
export function syncJob({ id }: Pick<SyncRun, 'id'>): NewJob {
  return { kind: SYNC_JOB, payload: { runId: id }, idempotencyKey: id, maxAttempts: UNLIMITED_ATTEMPTS };
}

/** Drives queued syncs. At its stop they go on in another process, or with the next start. */
export function createSyncWorker(dependencies: SyncDependencies): JobWorker {
  return createJobWorker(dependencies, {
    name: 'sync',
    handlers: {
      [SYNC_JOB]: {
        drive: (job, lease) => driveSync(dependencies, job, lease),
        // The driver records every end of a sync; an error here kept it from that.
        failures: { decide: () => 'retry' },
      },
    },
    settings: dependencies.settings,
  });
}

/** Claims of one sync until it counts as killing its workers. Hand-overs do not count. */
const MAX_CLAIMS = 20;

/** Takes a claimed job to the end of its run. Throws what kept the end from being recorded. */
async function driveSync(dependencies: SyncDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { runs, store, workQueue, logger, tracer = NO_TRACER } = dependencies;
  const { runId } = job.payload;
  const run = typeof runId === 'string' ? await runs.get(runId) : null;
  // It was removed with its user, or it ended with a commit whose answer was lost.
  if (run === null || hasEnded(run.status)) {
    await store.commit(job.scope, workQueue.completeWrites(job));
    return;
  }
  logger.info('sync.claimed', { runId: run.id, attempt: job.attempt, datasets: run.datasetIds.length });
  const record = openSyncRecord(dependencies, job, run);
  try {
    const end = await tracer.root(rootOf(run, job), async (describe) => {
      const outcome = await outcomeOf(dependencies, { run, record, job, lease });
      describe({ attributes: { status: outcome.status }, failed: outcome.status === 'failed' });
      return outcome;
    });
    await eraseStateOfDeleted(dependencies, run);
    await record.end(end.status, end.error);
  } catch (error) {
    if ((await runs.get(run.id)) !== null) throw error;
    // It was removed with its user, perhaps together with the datasets.
    await eraseStateOfDeleted(dependencies, run);
    await store.commit(job.scope, workQueue.completeWrites(job));
  }
}

function rootOf({ id, userId: user, tenant, datasetIds }: SyncRun, { attempt }: ClaimedJob): TraceRoot {
  const attributes = { run_id: id, datasets: datasetIds.length, attempt };
  return { name: 'run sync', owner: { user, tenant }, attributes };
}

/** Erases the sync state that was recorded for a dataset while that was being deleted. */
async function eraseStateOfDeleted({ datasets, store }: SyncDependencies, { tenant, datasetIds }: SyncRun) {
  for (const dataset of datasetIds) {
    if ((await datasets.get({ tenant }, dataset)) !== null) continue;
    await eraseCollections(store, { tenant, dataset }, syncStateCollections);
  }
}

interface DrivenSync {
  readonly run: SyncRun;
  readonly record: SyncRecord;
  readonly job: ClaimedJob;
  readonly lease: JobLease;
}

interface SyncEnd {
  readonly status: SyncStatus;
  readonly error: string | null;
}

/** Throws when the run does not end here: handed over, lost, or when its end cannot be recorded. */
async function outcomeOf(dependencies: SyncDependencies, { run, record, job, lease }: DrivenSync): Promise<SyncEnd> {
  const { logger, settings } = dependencies;
  if (job.attempt > MAX_CLAIMS) return { status: 'failed', error: `it was begun ${MAX_CLAIMS} times` };
  for (;;) {
    try {
      lease.signal.throwIfAborted();
      await carryOutSync(dependencies, record, lease.signal);
      return { status: 'completed', error: null };
    } catch (error) {
      const fault: unknown = lease.signal.aborted ? lease.signal.reason : error;
      if (isCancelled(fault)) return { status: 'cancelled', error: null };
      if (lease.signal.aborted || error instanceof LeaseLostError) throw error;
      const { errorClass, message } = describeRunError(error);
      const attempts = record.retries + 1;
      const known = isEngramError(error) ? { reason: `${errorClass}: ${message}` } : { error };
      logger.warn('sync.attempt.failed', { runId: run.id, attempts, ...known });
      if (!isRetryable(error) || attempts > settings.maxRetries) {
        return { status: 'failed', error: `${errorClass}: ${message}` };
      }
      await record.change({ retries: attempts });
    }
    await sleep(settings.retryBaseMs * 2 ** record.retries, null, { signal: lease.signal }).catch(() => null);
  }
}

function isCancelled(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'CancelledError';
}

/** Whether another attempt may succeed; a missing permission or a spent budget stays. */
function isRetryable(error: unknown): boolean {
  return !isEngramError(error) || error.status >= 500;
}

/** Percent of the progress once all files are equal, the remote builds, and this service builds. */
const FILES_DONE = 80;
const REMOTE_BUILT = 90;
const LOCAL_BUILT = 95;

/**
 * Carries out one attempt: equalises the files of each unfinished dataset, then has both sides build what arrived. The work done
 * before a failure stays done. Errors: `CloudConnnectionError`, `PermissionDeniedError`, those of budgets.
 */
async function carryOutSync(dependencies: SyncDependencies, record: SyncRecord, signal: AbortSignal) {
  const { clock } = dependencies;
  const authority = await authorise(dependencies, record, signal);
  const { datasets } = authority;
  const { id: runId, status, startedAt } = record.run;
  if (status === 'started') {
    await record.change({ status: 'in_progress', startedAt: startedAt ?? clock.now().toISOString() });
  }
  const remote = await dependencies.remote();
  const attempt = { runId, signal, isLastAttempt: record.retries >= dependencies.settings.maxRetries };
  const share = FILES_DONE / datasets.length;
  for (const [at, dataset] of datasets.entries()) {
    if (record.finished.includes(dataset.id)) continue;
    const advance: SyncRecord['advance'] = (part, counts) => record.advance((at + part) * share, counts);
    const counts = () => record.counts;
    await syncDataset(dependencies, { ...authority, ...attempt, dataset, remote, counts, advance });
    await record.advance((at + 1) * share);
    await record.change({ finished: [...record.finished, dataset.id] });
  }
  await record.advance(FILES_DONE);
  await buildThere(dependencies, { remote, runId }, datasets, signal);
  await record.advance(REMOTE_BUILT);
  await buildHere(dependencies, authority, runId);
  await record.advance(LOCAL_BUILT);
}

/** Authorises the user of the sync; `requireStill` asks auth again, but not at every call. */
async function authorise(dependencies: SyncDependencies, { run }: SyncRecord, signal: AbortSignal) {
  const { clock, settings } = dependencies;
  const authority = await authoriseJob(dependencies, run, { requestId: run.id, signal });
  let askedMs = clock.monotonicMs();
  return {
    ...authority,
    async requireStill() {
      if (clock.monotonicMs() - askedMs < settings.recheckMs) return;
      await authority.requireStill();
      askedMs = clock.monotonicMs();
    },
  };
}

/**
 * Returns the files that arrived on a side and are to be built: those of this run, and of runs that ended without building them.
 * A run that still transfers files builds its own.
 */
async function arrived({ state, runs }: SyncDependencies, dataset: DatasetRef, { side, runId }: SyncDue) {
  const found: SyncDue[] = [];
  for (const due of await state.dues(scopeOf(dataset))) {
    if (due.side !== side) continue;
    const other = due.runId === runId ? null : await runs.get(due.runId);
    if (other === null || hasEnded(other.status)) found.push(due);
  }
  return found;
}

async function buildThere(
  dependencies: SyncDependencies,
  { remote, runId }: { readonly remote: RemoteMemory; readonly runId: string },
  datasets: readonly DatasetRef[],
  signal: AbortSignal,
): Promise<void> {
  const due = new Map<DatasetRef, readonly SyncDue[]>();
  for (const dataset of datasets) {
    const dues = await arrived(dependencies, dataset, { side: 'remote', runId });
    if (dues.length > 0) due.set(dataset, dues);
  }
  if (due.size === 0) return;
  await remote.cognify(
    [...due.keys()].map(({ id }) => id),
    signal,
  );
  for (const [dataset, dues] of due) await dependencies.state.settleDues(scopeOf(dataset), dues);
}

/** Starts runs, which are durable then; does not wait for their end. */
async function buildHere(dependencies: SyncDependencies, { datasets, context }: JobAuthority, runId: string) {
  const { state, messenger } = dependencies;
  for (const dataset of datasets) {
    const dues = await arrived(dependencies, dataset, { side: 'local', runId });
    if (dues.length === 0) continue;
    await messenger.call('cognify.StartRun', { dataset, options: {}, background: true }, context);
    await state.settleDues(scopeOf(dataset), dues);
  }
}

/** The record of a running sync. Writes fail once the worker has lost the job. */
interface SyncRecord {
  readonly run: SyncRun;
  readonly retries: number;
  readonly finished: readonly DatasetId[];
  readonly counts: SyncCounts;
  /** `LeaseLostError` once another worker has it, or when it is gone with its user. */
  change(change: SyncChange): Promise<void>;
  /** Sets the progress, 0 to 100; written when it has grown by a few percent, and with every other change. */
  advance(progress: number, counts?: Partial<SyncCounts>): Promise<void>;
  /** Ends run and job in one commit with the event; the user may start another sync then. */
  end(status: SyncStatus, error: string | null): Promise<void>;
}

/** About 20 writes a run. */
const STEP_PERCENT = 5;

function openSyncRecord(dependencies: SyncDependencies, job: ClaimedJob, run: SyncRun): SyncRecord {
  const { runs, store, workQueue, eventLog, clock, logger } = dependencies;
  let written = run.progress;
  let progress = run.progress;
  let counts: SyncCounts = run;
  let state: Pick<SyncRun, 'retries' | 'finished'> = run;
  const now = () => clock.now().toISOString();
  const commit = async (writes: Parameters<typeof store.commit>[1]): Promise<void> => {
    try {
      await store.commit(job.scope, writes);
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
      throw new LeaseLostError(`job ${job.id}: the run is another worker's, or gone`, { cause: error });
    }
  };
  const { uploaded, downloaded, passedOver } = run;
  counts = { uploaded, downloaded, passedOver };
  const record: SyncRecord = {
    run,
    get retries() {
      return state.retries;
    },
    get finished() {
      return state.finished;
    },
    get counts() {
      return counts;
    },
    async change(change) {
      await commit([...workQueue.heldWrites(job), runs.changeWrite(run.id, { ...counts, progress, ...change })]);
      state = { retries: change.retries ?? state.retries, finished: change.finished ?? state.finished };
      written = progress;
    },
    async advance(percent, more = {}) {
      // A later attempt begins at the first unfinished dataset; the progress shown never decreases.
      progress = Math.max(progress, Math.floor(percent));
      counts = { ...counts, ...more };
      if (progress >= written + STEP_PERCENT) await record.change({});
    },
    async end(status, error) {
      const ended = { ...counts, status, error, endedAt: now(), progress: status === 'completed' ? 100 : progress };
      const data = { status, uploaded: counts.uploaded, downloaded: counts.downloaded };
      await commit([
        ...workQueue.completeWrites(job),
        runs.changeWrite(run.id, ended),
        ...eventLog.appendWrites({ tenant: run.tenant }, [{ type: 'sync.ended', subjectId: run.id, data }]),
      ]);
      logger.info('sync.ended', { runId: run.id, status, ...counts, ...(error === null ? {} : { reason: error }) });
    },
  };
  return record;
}
