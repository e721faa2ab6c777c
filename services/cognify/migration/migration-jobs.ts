import { namedError } from '../../common/kernel/errors.ts';
import { asId, idOfText } from '../../common/kernel/ids.ts';
import { type DatasetScope, datasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { isQueuedAlready } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker, type JobWorker, type JobWorkerDependencies } from '../../common/platform/jobs/job-worker.ts';
import type { EmbeddingState } from '../../common/platform/messaging/messages.ts';
import type { ClaimedJob, WorkQueue } from '../../common/ports/work-queue.ts';
import type { DocumentWriter } from '../../common/storage/ports/document-store.ts';
import { followRequest } from './migrate-embedding.ts';
import type { MigrationDependencies } from './migration-step.ts';

/** Kind of the jobs that move the vectors of a dataset to another embedding model. */
export const MIGRATION_JOB = 'embedding-migration';

/** Failures in a row after which the job is a dead letter. */
const MAX_ATTEMPTS = 20;
/** Pause between turns, each of which takes some seconds, for other migrations. */
const NEXT_TURN_MS = 500;
/** Migrations of one process at the same time: they share the embedding model and the stores with runs. */
const AT_ONCE = 4;

export interface MigrationQueue {
  readonly store: DocumentWriter;
  readonly workQueue: WorkQueue;
}

/** Queues a migration unless it is queued; a dead letter is replayed. */
export async function queueMigration({ store, workQueue }: MigrationQueue, scope: DatasetScope): Promise<void> {
  const id = idOfText(JSON.stringify([MIGRATION_JOB, scope.tenant, scope.dataset]));
  if (await workQueue.exists(SYSTEM_SCOPE, id)) {
    if ((await workQueue.deadLetters.get(SYSTEM_SCOPE, id)) !== null)
      await workQueue.deadLetters.replay(SYSTEM_SCOPE, id);
    return;
  }
  const { writes } = workQueue.enqueueWrites(scope, {
    id,
    kind: MIGRATION_JOB,
    payload: {},
    maxAttempts: MAX_ATTEMPTS,
  });
  await store.commit(scope, writes).catch((error: unknown) => {
    if (!isQueuedAlready(error)) throw error;
  });
  await workQueue.wake(MIGRATION_JOB).catch(() => null); // a lost message delays it until the next poll
}

/** Begins a migration if one is needed, queues it, and returns its progress. */
export async function followMigration(
  deps: MigrationDependencies & MigrationQueue,
  scope: DatasetScope,
  signal?: AbortSignal,
): Promise<EmbeddingState> {
  const state = await followRequest(deps, scope, { ...(signal === undefined ? {} : { signal }), workMs: 0 });
  if (state.migration !== null) await queueMigration(deps, scope);
  return state;
}

export function createMigrationWorker(
  deps: MigrationDependencies & JobWorkerDependencies & MigrationQueue,
  { drainMs, pollMs = 1000 }: { readonly drainMs: number; readonly pollMs?: number },
): JobWorker {
  return createJobWorker(deps, {
    name: 'cognify.migration',
    handlers: {
      [MIGRATION_JOB]: {
        drive: (job, lease) => drive(deps, job, lease),
        failures: { decide: () => 'retry' },
      },
    },
    settings: { leaseMs: 15_000, pollMs, maxConcurrent: AT_ONCE, drainMs },
  });
}

/** Works on a migration for one turn. Throws the error that it failed with. */
async function drive(
  deps: MigrationDependencies & JobWorkerDependencies & MigrationQueue,
  job: ClaimedJob,
  { signal }: JobLease,
): Promise<void> {
  const { vectorVersions, clock, store, workQueue } = deps;
  const scope = datasetScope(job.scope.tenant, asId(job.scope.dataset ?? ''));
  const stored = async () => (await vectorVersions.state(scope)).migration;
  const before = await stored();
  const { migration, failure } = await followRequest(deps, scope, { signal, isAlone: true });
  const after = await stored();
  if (migration === null) {
    await store.commit(job.scope, workQueue.completeWrites(job));
    // A migration that began between the last read and the end of the job.
    if (after !== null) await queueMigration(deps, scope);
    return;
  }
  const waitMs = (after?.retryAtMs ?? 0) - clock.now().getTime();
  const isTried = waitMs <= 0 || (after?.failures ?? 0) > (before?.failures ?? 0);
  if (failure !== null && isTried) throw namedError(failure.name, failure.message);
  await workQueue.release(job, Math.max(NEXT_TURN_MS, waitMs));
}
