import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { beginErasure, type ErasedThing } from '../../common/platform/messaging/methods/auth-managed.ts';
import type { ErasureProgress } from '../../common/platform/messaging/methods/ingest-managed.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createErasures, type Erasure } from '../repositories/erasures.ts';
import { carryOutErasure, type ErasureDependencies, type ErasureWatch, type ErasureWish } from './carry-out-erasure.ts';
import { createLeasedWork, type WorkWatch } from './leased-work.ts';

/** Erasures for the operator, which asks again until there is a receipt. */
export interface ManagedErasures {
  /**
   * Begins the erasure, or goes on with one that nobody is at; answers when it has ended, or how far it is after a while.
   * Errors: those of `eraseDataset` in common/platform/messaging/methods/ingest-managed.ts.
   */
  progress(thing: ErasureWish, context: CallContext): Promise<ErasureProgress>;
  /** Ends what is in hand here after its step; somebody else goes on. */
  stop(): Promise<void>;
}

export function createManagedErasures(
  deps: ErasureDependencies,
  options: { readonly answerAfterMs?: number } = {},
): ManagedErasures {
  const { store, clock, logger } = deps;
  const erasures = createErasures(store);
  const work = createLeasedWork<Erasure, ErasureWish>({
    ...{ clock, logger, what: 'erasure', ...options },
    isShared: store.capabilities.sharedBetweenProcesses,
    save: (erasure) => store.commit(SYSTEM_SCOPE, [erasures.replaceWrite(erasure)]),
    work: (erasure, wish, watch) => carryOut(deps, wish, { erasure, watch }),
  });
  const open = async (thing: ErasedThing): Promise<Erasure> => {
    const place = placeOf(thing);
    const known = await erasures.get(thing.crUid, place);
    if (known !== null) return known;
    const write = erasures.insertWrite(thing.crUid, place, clock.now().toISOString());
    await store.commit(SYSTEM_SCOPE, [write]).catch((error: unknown) => {
      if (!(error instanceof DuplicateKeyError)) throw error;
    });
    return read(thing);
  };
  const read = async (thing: ErasedThing): Promise<Erasure> => {
    const erasure = await erasures.get(thing.crUid, placeOf(thing));
    if (erasure === null) throw new Error('an erasure that was begun is gone');
    return erasure;
  };
  return {
    async progress(wish, { requestId }) {
      // Who may not is told so before anything is written down.
      const { receipt } = await deps.messenger.call(beginErasure, thingOf(wish), { requestId });
      if (receipt !== null) return ended(receipt, await erasures.get(wish.crUid, placeOf(wish)));
      const { id } = await open(wish);
      return progressOf(await work.progress({ id, input: wish, requestId, read: () => read(wish) }));
    },
    stop: () => work.stop(),
  };
}

function thingOf({ tenantId, datasetId, crUid }: ErasureWish): ErasedThing {
  return { tenantId, crUid, ...(datasetId === undefined ? {} : { datasetId }) };
}

function placeOf({ tenantId, datasetId }: ErasedThing): ManagedThing {
  return { tenant: tenantId, dataset: datasetId ?? null };
}

interface Attempt {
  readonly erasure: Erasure;
  readonly watch: WorkWatch<Erasure>;
}

/** Goes on with the counts of the attempts before, and leaves its own where it fails. */
async function carryOut(
  deps: ErasureDependencies,
  wish: ErasureWish,
  { erasure, watch: { signal, requestId, update } }: Attempt,
): Promise<Partial<Erasure>> {
  const removed: Record<string, number> = { ...(erasure.removed as Record<string, number>) };
  let { residue } = erasure;
  const counted = () => ({ removed: { ...removed }, residue });
  const watch: ErasureWatch = {
    ...{ begunAt: erasure.begunAt, context: { requestId, signal } },
    ...{ finalSnapshots: erasure.finalSnapshots, kept: erasure.kept, note: update },
    async step(step) {
      signal.throwIfAborted();
      await update({ ...counted(), step });
    },
    removed(kind, count) {
      if (count > 0) removed[kind] = (removed[kind] ?? 0) + count;
    },
    left(count) {
      residue = count;
    },
    total: () => ({ ...removed }),
  };
  try {
    const receipt = await carryOutErasure(deps, wish, watch);
    return { ...counted(), receipt, step: '', residue: 0 };
  } catch (error) {
    await update(counted());
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
