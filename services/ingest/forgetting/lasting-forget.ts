import { setTimeout as sleep } from 'node:timers/promises';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { CutOffForget, Forgotten, ForgottenDataset } from '../repositories/begun-forgets.ts';
import { asEraser } from './as-eraser.ts';
import { forgetDataset, forgetItems, forgetMemory, removeLate } from './forget.ts';

/** Who died does not hold it up for longer. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const RELEASE_RETRY_MS = 1_000;

/**
 * Forgets the items, and is ended by somebody else when this process dies or fails: from the first commit on nobody is told
 * any more that they are kept. It has succeeded when it resolves. Errors: those of `forgetItems`.
 */
export function forgetItemsForGood(
  deps: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[],
  context: CallContext,
): Promise<void> {
  const what = { items: ids, memoryOnly: false };
  return toTheEnd(deps, dataset, what, () => forgetItems(deps, dataset, ids, context));
}

/** The same of a dataset: from the first commit on nothing is taken into it. Errors: those of `forgetDataset`. */
export function forgetDatasetForGood(
  deps: IngestDependencies,
  dataset: DatasetRef,
  context: CallContext,
): Promise<void> {
  return toTheEnd(deps, dataset, { items: null, memoryOnly: false }, () => forgetDataset(deps, dataset, context));
}

/** The same of what was built of the items, with null of the whole dataset. Returns how many items were reset. */
export function forgetMemoryForGood(
  deps: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[] | null,
  context: CallContext,
): Promise<number> {
  const what = { items: ids, memoryOnly: true };
  return toTheEnd(deps, dataset, what, () => forgetMemory(deps, dataset, ids, context));
}

async function toTheEnd<Result>(
  deps: IngestDependencies,
  dataset: DatasetRef,
  what: Forgotten,
  work: () => Promise<Result>,
): Promise<Result> {
  const writes = what.memoryOnly ? [] : (what.items ?? []).map((id) => deps.items.forgetWrite(id));
  const times = { begunAt: deps.clock.now().toISOString(), leasedUntilMs: leaseOf(deps) };
  await deps.begunForgets.begin(dataset, what, times, writes);
  return whileHeld(deps, dataset, what, work);
}

function leaseOf({ clock }: Pick<IngestDependencies, 'clock'>): number {
  return clock.now().getTime() + LEASE_MS;
}

/** The store may be what failed: lets go as soon as it works again, which is sooner than the lease ends. */
async function release(
  { begunForgets, clock }: Pick<IngestDependencies, 'begunForgets' | 'clock'>,
  dataset: ForgottenDataset,
  what: Forgotten,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + LEASE_MS;
  while (clock.monotonicMs() < deadlineMs) {
    const isReleased = await begunForgets.hold(dataset, what, 0).then(
      () => true,
      () => false,
    );
    if (isReleased) return;
    await sleep(RELEASE_RETRY_MS, undefined, { ref: false });
  }
}

/** Lets go of it when the work fails, so that the next pass goes on. Two that do the same do each other no harm. */
async function whileHeld<Result>(
  deps: Pick<IngestDependencies, 'begunForgets' | 'clock'>,
  dataset: ForgottenDataset,
  what: Forgotten,
  work: () => Promise<Result>,
): Promise<Result> {
  const { begunForgets } = deps;
  // Whoever cannot renew for a while may be two.
  const renewal = setInterval(() => void begunForgets.hold(dataset, what, leaseOf(deps)).catch(() => {}), RENEW_MS);
  renewal.unref();
  try {
    const result = await work();
    await begunForgets.end(dataset, what);
    return result;
  } catch (error) {
    void release(deps, dataset, what);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/**
 * Ends what was begun to be forgotten and cut off, on the word of the dataset's owner: who began it may have lost the
 * permission since. What fails is logged, and nothing else's matter.
 */
export async function resumeForgets(deps: IngestDependencies, signal: AbortSignal): Promise<void> {
  const { begunForgets, clock, logger } = deps;
  const found = await begunForgets.cutOff(SYSTEM_SCOPE, clock.now().getTime());
  // One that was made anew under the id of another has nothing to do with it.
  const keyOf = ({ dataset, memoryBefore }: CutOffForget) => `${dataset.id} ${dataset.createdAt} ${memoryBefore}`;
  for (const ofOne of Map.groupBy(found, keyOf).values()) {
    try {
      await endAll(deps, ofOne, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn('ingest.forgetting.cut-off', { error, datasetId: ofOne[0]?.dataset.id });
    }
  }
}

/** Of one dataset. What somebody else has taken up is theirs. */
async function endAll(deps: IngestDependencies, found: readonly CutOffForget[], signal: AbortSignal): Promise<void> {
  const taken: CutOffForget[] = [];
  for (const forget of found) {
    signal.throwIfAborted();
    if (await deps.begunForgets.take(forget, leaseOf(deps))) taken.push(forget);
  }
  const [one] = taken;
  if (one === undefined) return;
  const items = taken.flatMap(({ item }) => (item === null ? [] : [item]));
  const what = { items: items.length < taken.length ? null : items, memoryOnly: one.memoryBefore !== null };
  await whileHeld(deps, one.dataset, what, () => forgetAgain(deps, one, what.items, signal));
}

async function forgetAgain(
  deps: IngestDependencies,
  { dataset: forgotten, memoryBefore }: CutOffForget,
  items: readonly DataItemId[] | null,
  signal: AbortSignal,
): Promise<void> {
  const dataset = await deps.datasets.get(scopeOf(forgotten), forgotten.id);
  // Nobody can name it any more, but something may have been written since the last look.
  if (dataset === null && memoryBefore !== null) return;
  if (dataset === null) return removeLate(deps, { ...forgotten, name: '', updatedAt: null });
  if (dataset.createdAt !== forgotten.createdAt) return;
  const eraser = await asEraser(deps, dataset, signal);
  if (eraser === null) throw new Error('the dataset went meanwhile');
  if (memoryBefore !== null) {
    const ids = await builtBefore(deps, dataset, items, memoryBefore);
    if (ids === null || ids.length > 0) await forgetMemory(deps, dataset, ids, eraser);
    return;
  }
  await (items === null ? forgetDataset(deps, dataset, eraser) : forgetItems(deps, dataset, items, eraser));
}

/** Without the items that were built again since: that memory is a new one. Null: all of the dataset. */
async function builtBefore(
  { ledger }: Pick<IngestDependencies, 'ledger'>,
  dataset: DatasetRef,
  items: readonly DataItemId[] | null,
  before: string,
): Promise<readonly DataItemId[] | null> {
  const entries = await ledger.allEntries(scopeOf(dataset));
  const isNew = (item: DataItemId) => (entries.get(item)?.committedAt ?? '') > before;
  const ids = items ?? [...entries.keys()];
  return items === null && !ids.some(isNew) ? null : ids.filter((item) => !isNew(item));
}
