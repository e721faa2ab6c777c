import { isTerminal } from '../../common/domain/run.ts';
import type { RunId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { describeRunError, type RunRecorder } from '../../common/platform/jobs/run-recorder.ts';
import type { WatchedWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import type { AuditEntry, AuditLog } from '../../common/ports/audit-log.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { DeadLetter } from '../../common/ports/work-queue.ts';
import { datasetOf, type Runs, type StoredRun } from '../../common/records/cognify/runs.ts';
import { type DocumentStore, VersionConflictError } from '../../common/storage/ports/document-store.ts';

export interface JobDependencies {
  readonly store: DocumentStore;
  readonly audit: AuditLog;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly logger: Logger;
  readonly workQueue: WatchedWorkQueue;
}

/** Reads a job that failed for good; `EntityNotFoundError` when there is none with this id. */
export async function readDeadJob({ workQueue }: JobDependencies, jobId: string): Promise<DeadLetter> {
  const letter = await workQueue.deadLetters.get(SYSTEM_SCOPE, jobId);
  if (letter === null) throw engramError('EntityNotFoundError', `No job ${jobId} was given up.`);
  return letter;
}

/** Queues the job again. `ConflictError` when another job already does the same work. */
export async function replayDeadJob(dependencies: JobDependencies, jobId: string, by: UserId): Promise<DeadLetter> {
  const letter = await readDeadJob(dependencies, jobId);
  if (await dependencies.workQueue.deadLetters.replay(SYSTEM_SCOPE, jobId)) {
    await dependencies.audit.record(decision('job.replayed', letter, by));
    return letter;
  }
  throw engramError('ConflictError', `Job ${jobId} was replayed already, or a newer one does its work.`);
}

/** Removes the job and ends the run that waits for it. `ConflictError` when it was replayed meanwhile. */
export async function discardDeadJob(dependencies: JobDependencies, jobId: string, by: UserId): Promise<DeadLetter> {
  const { workQueue, store, audit, recorder } = dependencies;
  const letter = await readDeadJob(dependencies, jobId);
  const writes = workQueue.withdrawWrites(jobId, 'dead');
  const run = await openRunOf(dependencies, letter);
  try {
    const reason = engramError('CancelledError', 'The job of the run failed for good and was discarded.');
    const ended =
      run === null ? null : await recorder.ended(run, datasetOf(run), { error: describeRunError(reason) }, writes);
    if (ended === null) await store.commit(SYSTEM_SCOPE, writes);
    await audit.record(decision('job.discarded', letter, by));
    return letter;
  } catch (error) {
    if (!(error instanceof VersionConflictError)) throw error;
    throw engramError('ConflictError', `Job ${jobId} is not given up any more.`, { cause: error });
  }
}

/** Makes the audit entry, for the administrators of the job's tenant. */
function decision(action: string, { id, kind, tenant, dataset }: DeadLetter, by: UserId): AuditEntry {
  return { tenant: asId<TenantId>(tenant), action, actor: by, subject: id, details: { kind, dataset } };
}

async function openRunOf({ runs }: JobDependencies, { payload }: DeadLetter): Promise<StoredRun | null> {
  const { runId } = payload;
  if (typeof runId !== 'string' || !isUuid(runId)) return null;
  const run = await runs.get(SYSTEM_SCOPE, asId<RunId>(runId));
  return run === null || isTerminal(run.state.status) ? null : run;
}
