import { setTimeout as sleep } from 'node:timers/promises';
import { type DatasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import { describeRunError, type RunRecorder } from '../../common/platform/jobs/run-recorder.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { WorkQueue } from '../../common/ports/work-queue.ts';
import { datasetOf, type Runs, type StoredRun } from '../../common/records/cognify/runs.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';

interface Dependencies {
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly workQueue: Pick<WorkQueue, 'requestCancel' | 'withdrawWrites'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const POLL_MS = 50;

/**
 * Ends every run of the dataset that a job drives: at once where no worker has it, else its worker, in whatever process, is
 * asked to. Resolves when none is left, or after `waitMs`: a dead worker's run ends with its next claim.
 */
export async function cancelRuns(
  dependencies: Dependencies,
  scope: DatasetScope,
  { reason, waitMs }: { readonly reason: Error; readonly waitMs: number },
): Promise<void> {
  const { runs, workQueue, clock } = dependencies;
  const untilMs = clock.monotonicMs() + waitMs;
  const asked = new Set<string>();
  for (;;) {
    let left = 0;
    for (const run of await runs.unfinished(scope, { limit: 1000 })) {
      if (run.jobId === null || (await isWithdrawn(dependencies, run, 'queued', reason))) continue;
      const isAsked = asked.has(run.jobId) || (await workQueue.requestCancel(SYSTEM_SCOPE, run.jobId));
      if (isAsked) asked.add(run.jobId);
      else if (await isWithdrawn(dependencies, run, 'dead', reason)) continue;
      left += 1;
    }
    if (left === 0 || clock.monotonicMs() >= untilMs) return;
    await sleep(POLL_MS);
  }
}

/** Ends a run together with its job; false when the job is not in the state. */
async function isWithdrawn(
  { recorder, workQueue }: Dependencies,
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
