import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { authoriseJob, type JobAuthority } from '../../common/platform/jobs/job-authority.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
import { hasEnded } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDue } from '../../common/records/integrations/sync-state.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { syncDataset } from './sync-dataset.ts';
import type { SyncRecord } from './sync-record.ts';

/** Percent of the progress once all files are equal, the remote builds, and this service builds. */
const FILES_DONE = 80;
const REMOTE_BUILT = 90;
const LOCAL_BUILT = 95;

/**
 * Carries out one attempt: equalises the files of each unfinished dataset, then has both sides build what arrived. The work done
 * before a failure stays done. Errors: `CloudConnnectionError`, `PermissionDeniedError`, those of budgets.
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

/** Authorises the user of the sync; `requireStill` asks auth again, but not at every call. */
async function authorise(
  dependencies: SyncDependencies,
  { run }: SyncRecord,
  signal: AbortSignal,
): Promise<JobAuthority> {
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

/** Starts runs, which are durable then; does not wait for their end. */
async function buildHere(
  dependencies: SyncDependencies,
  { datasets, context }: JobAuthority,
  runId: string,
): Promise<void> {
  const { state, messenger } = dependencies;
  for (const dataset of datasets) {
    const dues = await arrived(dependencies, dataset, { side: 'local', runId });
    if (dues.length === 0) continue;
    await messenger.call('cognify.StartRun', { dataset, options: {}, background: true }, context);
    await state.settleDues(scopeOf(dataset), dues);
  }
}
