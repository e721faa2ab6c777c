import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { SYNC_JOB, syncJob } from '../consumers/sync-job.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { runningSync } from './running-sync.ts';

export interface SyncRequest {
  readonly principal: Principal;
  /** Empty: every dataset that the principal may write. */
  readonly datasetIds: readonly string[];
  readonly context: CallContext;
}

/** `isNew` false: another one of the user is under way, and nothing was started. */
export interface SyncStart {
  readonly run: SyncRun;
  readonly isNew: boolean;
}

/** How long runs that ended are kept. */
const KEPT_MS = 30 * 86_400_000;

/** Durable when it resolves. `PermissionDeniedError` for a dataset that may not be written, and when there is none at all. */
export async function startSync(dependencies: SyncDependencies, request: SyncRequest): Promise<SyncStart> {
  const { runs, logger, workQueue } = dependencies;
  const { principal } = request;
  for (;;) {
    const other = await runningSync(dependencies, principal);
    if (other !== null) return { run: other, isNew: false };
    const run = newRun(dependencies, principal, await datasetsOf(dependencies, request));
    try {
      await commitStart(dependencies, run);
    } catch (error) {
      // Somebody was faster; should that one have ended meanwhile, it is tried again.
      if (error instanceof DuplicateKeyError && (await runs.get(run.id)) === null) continue;
      throw error;
    }
    void workQueue.wake(SYNC_JOB).catch((error: unknown) => logger.warn('sync.wake.failed', { error }));
    return { run, isNew: true };
  }
}

async function datasetsOf(
  { messenger }: SyncDependencies,
  { principal, datasetIds, context }: SyncRequest,
): Promise<readonly DatasetRef[]> {
  const selection = datasetIds.length === 0 ? {} : { ids: datasetIds };
  const asking = { permission: 'write', ...selection } as const;
  const { datasets } = await messenger.call('auth.ResolveDatasets', asking, { ...context, principal });
  if (datasets.length > 0) return datasets;
  throw engramError('PermissionDeniedError', 'Request owner does not have permission: [write] for any dataset.');
}

function newRun(
  { clock, ids }: SyncDependencies,
  { id: userId, tenant, key }: Principal,
  datasets: readonly DatasetRef[],
): SyncRun {
  return {
    ...{ id: ids.uuid(), userId, tenant, keyId: key?.id ?? null, status: 'started', error: null },
    datasetIds: datasets.map(({ id }) => id),
    datasetNames: datasets.map(({ name }) => name),
    ...{ finished: [], progress: 0, retries: 0, uploaded: 0, downloaded: 0, passedOver: 0 },
    ...{ createdAt: clock.now().toISOString(), startedAt: null, endedAt: null },
  };
}

/** Content leaves the service: administrators of the tenant read of it. */
async function commitStart({ runs, audit, eventLog, workQueue, clock }: SyncDependencies, run: SyncRun): Promise<void> {
  const { id, userId, tenant, datasetIds } = run;
  const scope = { tenant };
  const before = new Date(clock.now().getTime() - KEPT_MS).toISOString();
  await audit.commit(
    scope,
    [
      runs.removeOldWrite(userId, before),
      runs.insertWrite(run),
      ...workQueue.enqueueWrites(scope, syncJob(run)).writes,
      ...eventLog.appendWrites(scope, [{ type: 'sync.started', subjectId: id, data: { datasetIds: [...datasetIds] } }]),
    ],
    [
      {
        ...{ tenant, action: 'export.made', actor: userId, subject: id },
        details: { what: 'sync', datasets: [...datasetIds] },
      },
    ],
  );
}
