import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import type { ErasedThing, ErasureProgress } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { renewedProof } from '../../common/platform/messaging/principal-proof.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import type { AnyCollection } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { createRecordedWork, type WorkKey, type WorkProgress } from '../jobs/recorded-work.ts';
import { countForgotten } from '../model.ts';
import { createErasures, type Erasure } from '../repositories/erasures.ts';
import { eraseSnapshots } from '../snapshots/remove-snapshots.ts';
import { forgetDataset } from './forget.ts';
import {
  type ErasureRequest,
  type ErasureWatch,
  type FinalSnapshotDependencies,
  takeFinalSnapshots,
} from './take-final-snapshots.ts';

/** Kind of the jobs that erase datasets and tenants for resources. */
export const ERASURE_JOB = 'erasure';

export type ManagedErasures = ReturnType<typeof createManagedErasures>;

/** Erasures for the operator, which asks again until there is a receipt. */
export function createManagedErasures(deps: ErasureDependencies, options: { readonly answerAfterMs?: number } = {}) {
  const { store, clock } = deps;
  const erasures = createErasures(store);
  const work = createRecordedWork<Erasure, ErasureRequest>(deps, {
    ...options,
    kind: ERASURE_JOB,
    read: ({ scope, payload }) => {
      const dataset = (payload['datasetId'] ?? null) as ManagedThing['dataset'];
      return erasures.get(String(payload['crUid']), { tenant: scope.tenant, dataset });
    },
    save: (_, erasure, writes) => store.commit(SYSTEM_SCOPE, [...writes, erasures.replaceWrite(erasure)]),
    async work(erasure, request, progress) {
      if (request === null) throw new Error('an erasure cannot be carried out without its request');
      return carryOut(deps, request, { erasure, progress });
    },
  });
  const read = async (thing: ErasedThing): Promise<Erasure> => {
    const erasure = await erasures.get(thing.crUid, placeOf(thing));
    if (erasure === null) throw new Error('the record of a begun erasure is missing');
    return erasure;
  };
  const open = async (thing: ErasedThing): Promise<void> => {
    const place = placeOf(thing);
    if ((await erasures.get(thing.crUid, place)) !== null) return;
    const write = erasures.insertWrite(thing.crUid, place, clock.now().toISOString());
    await ignoreDuplicate(store.commit(SYSTEM_SCOPE, [write]));
  };
  return {
    handler: work.handler,
    /**
     * Begins the erasure, or resumes one that no worker holds; resolves when it has ended, or after a while to its
     * progress. Errors: those of `ingest.EraseDataset` in proto/.
     */
    async progress(request: ErasureRequest, { requestId }: CallContext): Promise<ErasureProgress> {
      // A request without permission fails before anything is recorded.
      const { receipt } = await deps.messenger.call('auth.BeginErasure', thingOf(request), { requestId });
      if (receipt !== null) return ended(receipt, await erasures.get(request.crUid, placeOf(request)));
      await open(request);
      const key = keyOf(request);
      return progressOf(await work.progress({ work: key, input: request, requestId, read: () => read(request) }));
    },
  };
}

function keyOf({ tenantId, datasetId, crUid }: ErasedThing): WorkKey {
  const payload = { crUid, datasetId: datasetId ?? null };
  return { scope: { tenant: tenantId }, key: JSON.stringify(payload), payload, onRequest: true };
}

function thingOf({ tenantId, datasetId, crUid }: ErasureRequest): ErasedThing {
  return { tenantId, crUid, ...(datasetId === undefined ? {} : { datasetId }) };
}

function placeOf({ tenantId, datasetId }: ErasedThing): ManagedThing {
  return { tenant: tenantId, dataset: datasetId ?? null };
}

interface Attempt {
  readonly erasure: Erasure;
  readonly progress: WorkProgress<Erasure>;
}

/** Adds to the counts of earlier attempts, and records its own when it fails. */
async function carryOut(
  deps: ErasureDependencies,
  request: ErasureRequest,
  { erasure, progress: { signal, requestId, jobId, update } }: Attempt,
): Promise<Partial<Erasure>> {
  const counts = countForgotten(erasure.removed as Record<string, number>, erasure.residue);
  const watch: ErasureWatch = {
    begunAt: erasure.begunAt,
    jobId,
    context: { requestId, signal },
    finalSnapshots: erasure.finalSnapshots,
    kept: erasure.kept,
    note: update,
    async step(step) {
      signal.throwIfAborted();
      await update({ ...counts.total(), step });
    },
    removed: counts.removed,
    left: counts.left,
    total: () => counts.total().removed,
  };
  try {
    const receipt = await carryOutErasure(deps, request, watch);
    return { ...counts.total(), receipt, step: '', residue: 0 };
  } catch (error) {
    await update(counts.total());
    throw error;
  }
}

function progressOf(erasure: Erasure): ErasureProgress {
  if (erasure.receipt !== null) return ended(erasure.receipt, erasure);
  const { step, removed, residue, failure } = erasure;
  return { erased: false, step, removed, residue, receipt: null, failure };
}

function ended(receipt: string, erasure: Erasure | null): ErasureProgress {
  return { erased: true, step: '', removed: erasure?.removed ?? {}, residue: 0, receipt, failure: null };
}

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
async function carryOutErasure(
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
