import { keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type Principal, reachesTenant } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { SYNC_JOB, syncJob } from './sync-worker.ts';

interface SyncRequest {
  readonly principal: Principal;
  /** Empty: every dataset that the principal may write. */
  readonly datasetIds: readonly string[];
  readonly context: CallContext;
}

/** `isNew` false: another sync of the user is running, and none was started. */
interface SyncStart {
  readonly run: SyncRun;
  readonly isNew: boolean;
}

/** Retention of runs that ended. */
const KEPT_MS = 30 * 86_400_000;

/** Starts a sync, durably. `PermissionDeniedError` for a dataset that may not be written, and when there is none at all. */
export async function startSync(dependencies: SyncDependencies, request: SyncRequest): Promise<SyncStart> {
  const { logger, workQueue } = dependencies;
  const { principal } = request;
  // Another request may start one in the same moment; should that one have ended meanwhile, it is tried again.
  return retryOnConflict(async () => {
    const other = await runningSync(dependencies, principal);
    if (other !== null) return { run: other, isNew: false };
    const run = newRun(dependencies, principal, await datasetsOf(dependencies, request));
    await commitStart(dependencies, run);
    void workQueue.wake(SYNC_JOB).catch((error: unknown) => logger.warn('sync.wake.failed', { error }));
    return { run, isNew: true };
  });
}

async function datasetsOf({ messenger }: SyncDependencies, { principal, datasetIds, context }: SyncRequest) {
  const selection = datasetIds.length === 0 ? {} : { ids: datasetIds };
  const asking = { permission: 'write', ...selection } as const;
  const { datasets } = await messenger.call('auth.ResolveDatasets', asking, { ...context, principal });
  // A sync sends all of a dataset: who is shown a part of it may not.
  const parted = datasets.flatMap(({ id, reader }) => (reader === undefined ? [] : [id]));
  if (parted.length > 0)
    await messenger.call('auth.ResolveDatasets', { permission: 'read', ids: parted }, { ...context, principal });
  if (datasets.length > 0) return datasets;
  throw engramError('PermissionDeniedError', 'Request owner does not have permission: [write] for any dataset.');
}

function newRun(
  { clock, ids }: SyncDependencies,
  { id: userId, tenant, key }: Principal,
  datasets: readonly DatasetRef[],
): SyncRun {
  return {
    id: ids.uuid(),
    userId,
    tenant,
    keyId: key?.id ?? null,
    status: 'started',
    error: null,
    datasetIds: datasets.map(({ id }) => id),
    datasetNames: datasets.map(({ name }) => name),
    finished: [],
    progress: 0,
    retries: 0,
    uploaded: 0,
    downloaded: 0,
    passedOver: 0,
    createdAt: clock.now().toISOString(),
    startedAt: null,
    endedAt: null,
  };
}

/** Commits run, job, event and an audit record: content leaves the service. */
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
        tenant,
        action: 'export.made',
        actor: userId,
        subject: id,
        details: { what: 'sync', datasets: [...datasetIds] },
      },
    ],
  );
}

/** Returns the running sync of the caller's account, with the datasets that its API key reaches. */
export async function runningSync(
  { runs }: Pick<SyncDependencies, 'runs'>,
  principal: Principal,
): Promise<SyncRun | null> {
  const run = await runs.running(principal.id);
  return run === null || !reachesTenant(principal, run.tenant) ? null : seenBy(principal, run);
}

/** The last runs of the principal, newest first. */
export async function latestSyncs(
  { runs }: Pick<SyncDependencies, 'runs'>,
  principal: Principal,
  limit: number,
): Promise<readonly SyncRun[]> {
  const found = await runs.newest(principal.id, limit);
  return found.filter(({ tenant }) => reachesTenant(principal, tenant)).map((run) => seenBy(principal, run));
}

/** The run with the datasets alone that the API key reaches. */
function seenBy(principal: Principal, run: SyncRun): SyncRun {
  const isSeen = run.datasetIds.map((id) => keyAllows(principal, 'write') && keyReaches(principal, id));
  return {
    ...run,
    datasetIds: run.datasetIds.filter((_, at) => isSeen[at]),
    datasetNames: run.datasetNames.filter((_, at) => isSeen[at]),
  };
}
