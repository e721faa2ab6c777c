import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import type { ErasedThing, ErasureProgress } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { createRecordedWork, type WorkKey, type WorkProgress } from '../jobs/recorded-work.ts';
import { countForgotten } from '../model.ts';
import { createErasures, type Erasure } from '../repositories/erasures.ts';
import { carryOutErasure, type ErasureDependencies } from './carry-out-erasure.ts';
import type { ErasureRequest, ErasureWatch } from './take-final-snapshots.ts';

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
