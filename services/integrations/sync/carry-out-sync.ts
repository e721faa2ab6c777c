import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { Principal } from '../../common/domain/principal.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { getPrincipal, resolveDatasets } from '../../common/messaging/methods/auth.ts';
import { startRun } from '../../common/messaging/methods/cognify.ts';
import { renewedProof } from '../../common/messaging/principal-proof.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
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
  const { status, startedAt } = record.run;
  if (status === 'started') {
    await record.change({ status: 'in_progress', startedAt: startedAt ?? clock.now().toISOString() });
  }
  const remote = await dependencies.remote();
  const share = FILES_DONE / datasets.length;
  for (const [at, dataset] of datasets.entries()) {
    if (record.finished.includes(dataset.id)) continue;
    const advance: SyncRecord['advance'] = (part, counts) => record.advance((at + part) * share, counts);
    await syncDataset(dependencies, { ...authority, dataset, remote, signal, counts: () => record.counts, advance });
    await record.advance((at + 1) * share);
    await record.change({ finished: [...record.finished, dataset.id] });
  }
  await record.advance(FILES_DONE);
  await buildThere(dependencies, remote, datasets, signal);
  await record.advance(REMOTE_BUILT);
  await buildHere(dependencies, authority);
  await record.advance(LOCAL_BUILT);
}

export interface SyncAuthority {
  readonly principal: Principal;
  readonly datasets: readonly DatasetRef[];
  /** Speaks for the principal as long as it is there, however long the sync takes. */
  readonly context: CallContext;
}

/** A job may be claimed long after it was asked for: the account, its API key and its grants must still be there. */
async function authorise(
  { messenger, clock }: SyncDependencies,
  { run }: SyncRecord,
  signal: AbortSignal,
): Promise<SyncAuthority> {
  const { userId, tenant, keyId, datasetIds } = run;
  const asking = { requestId: run.id, signal };
  const account = { userId, tenant, ...(keyId === null ? {} : { key: keyId }) };
  const ask = async () => {
    const { principal, token } = await messenger.call(getPrincipal, account, asking);
    if (principal === null) {
      throw engramError('PermissionDeniedError', 'Who asked for this sync may do so no longer.');
    }
    return { principal, token };
  };
  const { principal, token } = await ask();
  const renew = async () => (await ask()).token ?? '';
  const proof = token === undefined ? {} : { proof: renewedProof(token, renew, clock) };
  const context = { ...asking, principal, ...proof };
  const { datasets } = await messenger.call(resolveDatasets, { permission: 'write', ids: datasetIds }, context);
  return { principal, datasets, context };
}

async function buildThere(
  { state }: SyncDependencies,
  remote: RemoteMemory,
  datasets: readonly DatasetRef[],
  signal: AbortSignal,
): Promise<void> {
  const due: DatasetRef[] = [];
  for (const dataset of datasets) if ((await state.dues(scopeOf(dataset))).remote) due.push(dataset);
  if (due.length === 0) return;
  await remote.cognify(
    due.map(({ id }) => id),
    signal,
  );
  for (const dataset of due) await state.setDue(scopeOf(dataset), 'remote', false);
}

/** The runs are durable when they are started; their end is not waited for. */
async function buildHere({ state, messenger }: SyncDependencies, { datasets, context }: SyncAuthority): Promise<void> {
  for (const dataset of datasets) {
    const scope = scopeOf(dataset);
    if (!(await state.dues(scope)).local) continue;
    await messenger.call(startRun, { dataset, options: {}, background: true }, context);
    await state.setDue(scope, 'local', false);
  }
}
