import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { lastinglyAsAccount } from '../../common/platform/messaging/account-authority.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { resolveDatasets } from '../../common/platform/messaging/methods/auth.ts';
import { startRun } from '../../common/platform/messaging/methods/cognify.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
import { hasEnded } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDue } from '../../common/records/integrations/sync-state.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { syncDataset } from './sync-dataset.ts';
import type { SyncRecord } from './sync-record.ts';

/** Percent when the files of all datasets are the same, the remote builds, and this service builds. */
const FILES_DONE = 80;
const REMOTE_BUILT = 90;
const LOCAL_BUILT = 95;

/**
 * One attempt: the files of each dataset that is not finished, then both sides build what arrived. Whatever was done before a
 * failure stays done. Errors: `CloudConnnectionError`, `PermissionDeniedError`, those of budgets.
 */
export async function carryOutSync(
  dependencies: SyncDependencies,
  record: SyncRecord,
  signal: AbortSignal,
): Promise<void> {
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

export interface SyncAuthority {
  readonly principal: Principal;
  readonly datasets: readonly DatasetRef[];
  /** Speaks for the principal as long as it is there, however long the sync takes. */
  readonly context: CallContext;
  /** Asks auth again, but not at every call: `PermissionDeniedError` once any of the datasets may not be written any more. */
  requireStill(): Promise<void>;
}

/** A job may be claimed long after it was asked for: the account, its API key and its grants must still be there. */
async function authorise(
  dependencies: SyncDependencies,
  { run }: SyncRecord,
  signal: AbortSignal,
): Promise<SyncAuthority> {
  const { messenger, clock, settings } = dependencies;
  const gone = 'Who asked for this sync may do so no longer.';
  const account = await lastinglyAsAccount(dependencies, run, { requestId: run.id, signal }, gone);
  const { context } = account;
  const resolve = () => messenger.call(resolveDatasets, { permission: 'write', ids: run.datasetIds }, context);
  const { datasets } = await resolve();
  let askedMs = clock.monotonicMs();
  const requireStill = async (): Promise<void> => {
    if (clock.monotonicMs() - askedMs < settings.recheckMs) return;
    await account.requireStill();
    await resolve();
    askedMs = clock.monotonicMs();
  };
  return { principal: context.principal, datasets, context, requireStill };
}

/**
 * What arrived on a side and may be built: of this run, and of runs that have ended without it. One that still brings files
 * has them built itself.
 */
async function arrived(
  { state, runs }: SyncDependencies,
  dataset: DatasetRef,
  { side, runId }: SyncDue,
): Promise<readonly SyncDue[]> {
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

/** The runs are durable when they are started; their end is not waited for. */
async function buildHere(
  dependencies: SyncDependencies,
  { datasets, context }: SyncAuthority,
  runId: string,
): Promise<void> {
  const { state, messenger } = dependencies;
  for (const dataset of datasets) {
    const dues = await arrived(dependencies, dataset, { side: 'local', runId });
    if (dues.length === 0) continue;
    await messenger.call(startRun, { dataset, options: {}, background: true }, context);
    await state.settleDues(scopeOf(dataset), dues);
  }
}
