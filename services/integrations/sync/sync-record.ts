import type { DatasetId } from '../../common/kernel/brand.ts';
import { type ClaimedJob, LeaseLostError } from '../../common/ports/work-queue.ts';
import type { SyncChange, SyncCounts, SyncRun, SyncStatus } from '../../common/records/integrations/sync-runs.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { SyncDependencies } from '../dependencies.ts';

/** The record of a running sync. Writes fail once the worker has lost the job. */
export interface SyncRecord {
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

export function openSyncRecord(dependencies: SyncDependencies, job: ClaimedJob, run: SyncRun): SyncRecord {
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
