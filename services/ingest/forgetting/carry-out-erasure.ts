import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ErasedThing } from '../../common/platform/messaging/messages.ts';
import { renewedProof } from '../../common/platform/messaging/principal-proof.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import type { AnyCollection } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { eraseSnapshots } from '../snapshots/remove-snapshots.ts';
import { forgetDataset } from './forget.ts';
import {
  type ErasureRequest,
  type ErasureWatch,
  type FinalSnapshotDependencies,
  takeFinalSnapshots,
} from './take-final-snapshots.ts';

/** With every collection that has documents of tenants, which the composition root lists. */
export type ErasureDependencies = IngestDependencies &
  FinalSnapshotDependencies & { readonly tenantCollections: readonly AnyCollection[] };

/** Times that a dataset may be re-created during the erasure, with credentials that are about to end. */
const ATTEMPTS = 3;

/**
 * Erases a dataset or tenant at all owners, each of which removes and counts; returns the receipt. Every step can be
 * repeated, so the next attempt begins from the start. Errors beside those of the owners: `CogneeSystemError` when
 * something is left.
 */
export async function carryOutErasure(
  deps: ErasureDependencies,
  request: ErasureRequest,
  watch: ErasureWatch,
): Promise<string> {
  const { messenger } = deps;
  const { tenantId, datasetId, crUid, keepSnapshots = false } = request;
  const thing: ErasedThing = { tenantId, crUid, ...(datasetId === undefined ? {} : { datasetId }) };
  await takeFinalSnapshots(deps, request, watch);
  await watch.step('snapshots');
  const found = await eraseSnapshots(deps.snapshotIndex, { ...thing, keepSnapshots }, watch);
  // The index is erased with the rest: a later attempt finds none of them.
  const kept = [...new Set([...watch.kept, ...found])].toSorted();
  await watch.note({ kept });
  if (thing.datasetId !== undefined) {
    await eraseDataset(deps, { ...thing, datasetId: thing.datasetId }, watch);
  } else {
    await eraseDatasets(deps, thing, watch);
    await eraseTenantRecords(deps, thing.tenantId, watch);
  }
  await watch.step('receipt');
  const ended = { ...thing, begunAt: watch.begunAt, removed: watch.total(), kept };
  const { receipt } = await messenger.call('auth.EndErasure', ended, watch.context);
  // Once more, for writes that were in flight when the tenant was closed: nothing refers to them any more.
  if (thing.datasetId === undefined) await eraseTenantRecords(deps, thing.tenantId, watch);
  return receipt;
}

async function eraseDatasets(deps: ErasureDependencies, thing: ErasedThing, watch: ErasureWatch): Promise<void> {
  const attempts = new Map<string, number>();
  for (;;) {
    const { datasetIds } = await deps.messenger.call('auth.BeginErasure', thing, watch.context);
    if (datasetIds.length === 0) return;
    for (const id of datasetIds) {
      const attempt = (attempts.get(id) ?? 0) + 1;
      if (attempt > ATTEMPTS)
        throw engramError('CogneeSystemError', `Dataset ${id} was re-created during the erasure.`, { retryable: true });
      attempts.set(id, attempt);
      await eraseDataset(deps, { ...thing, datasetId: asId<DatasetId>(id) }, watch);
    }
  }
}

async function eraseDataset(
  deps: ErasureDependencies,
  thing: ErasedThing & { readonly datasetId: DatasetId },
  watch: ErasureWatch,
): Promise<void> {
  const { messenger, clock } = deps;
  await watch.step(`dataset ${thing.datasetId}`);
  const begin = () => messenger.call('auth.BeginErasure', thing, watch.context);
  const { dataset, principal, token } = await begin();
  if (dataset === null || principal === null || token === null) return;
  const renew = async (): Promise<string> => {
    const again = await begin();
    if (again.token === null) throw engramError('ConflictError', 'Another request has erased the dataset meanwhile.');
    return again.token;
  };
  const proof = renewedProof(token, renew, clock);
  await forgetDataset(deps, dataset, { ...watch.context, principal, proof }, watch);
  watch.removed('datasets', 1);
}

/** Erases what the tenant has beside its datasets. */
async function eraseTenantRecords(deps: ErasureDependencies, tenant: TenantId, watch: ErasureWatch): Promise<void> {
  const { store, blobs, tenantCollections, workQueue } = deps;
  await watch.step('records of the tenant');
  const scope = { tenant };
  const { removed, left: ofCollections } = await eraseCollections(store, scope, tenantCollections);
  watch.removed('records', removed);
  let left = ofCollections;
  const jobs = await workQueue.removeOfTenant(SYSTEM_SCOPE, tenant, watch.jobId);
  watch.removed('jobs', jobs.removed);
  left += jobs.left;
  watch.removed('blobs', await blobs.removeAll(scope));
  left += (await blobs.list(scope, { limit: 1 })).length;
  watch.left(left);
  if (left > 0) {
    throw engramError('CogneeSystemError', `${left} records are left after the erasure; repeat it`, {
      retryable: true,
    });
  }
}
