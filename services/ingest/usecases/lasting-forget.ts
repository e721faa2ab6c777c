import type { DataItemId } from '../../common/domain/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { SYSTEM_SCOPE } from '../../common/domain/scope.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import type { CutOffForget, Forgotten, ForgottenDataset } from '../../common/repositories/begun-forgets.ts';
import { asEraser } from './as-eraser.ts';
import type { IngestDependencies } from './dependencies.ts';
import { forgetDataset, forgetItems, removeLate } from './forget.ts';

/** Who died does not hold it up for longer. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;

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
  return toTheEnd(deps, dataset, ids, () => forgetItems(deps, dataset, ids, context));
}

/** The same of a dataset: from the first commit on nothing is taken into it. Errors: those of `forgetDataset`. */
export function forgetDatasetForGood(
  deps: IngestDependencies,
  dataset: DatasetRef,
  context: CallContext,
): Promise<void> {
  return toTheEnd(deps, dataset, null, () => forgetDataset(deps, dataset, context));
}

async function toTheEnd(
  deps: IngestDependencies,
  dataset: DatasetRef,
  what: Forgotten,
  work: () => Promise<void>,
): Promise<void> {
  const writes = (what ?? []).map((id) => deps.items.forgetWrite(id));
  await deps.begunForgets.begin(dataset, what, leaseOf(deps), writes);
  await whileHeld(deps, dataset, what, work);
}

function leaseOf({ clock }: Pick<IngestDependencies, 'clock'>): number {
  return clock.now().getTime() + LEASE_MS;
}

/** Lets go of it when the work fails, so that the next pass goes on. Two that do the same do each other no harm. */
async function whileHeld(
  deps: Pick<IngestDependencies, 'begunForgets' | 'clock'>,
  dataset: ForgottenDataset,
  what: Forgotten,
  work: () => Promise<void>,
): Promise<void> {
  const { begunForgets } = deps;
  // Whoever cannot renew for a while may be two.
  const renewal = setInterval(() => void begunForgets.hold(dataset, what, leaseOf(deps)).catch(() => {}), RENEW_MS);
  renewal.unref();
  try {
    await work();
  } catch (error) {
    clearInterval(renewal);
    await begunForgets.hold(dataset, what, 0).catch(() => {});
    throw error;
  }
  clearInterval(renewal);
  await begunForgets.end(dataset, what);
}

/**
 * Ends what was begun to be forgotten and cut off, on the word of the dataset's owner: who began it may have lost the
 * permission since. What fails is logged, and nothing else's matter.
 */
export async function resumeForgets(deps: IngestDependencies, signal: AbortSignal): Promise<void> {
  const { begunForgets, clock, logger } = deps;
  const found = await begunForgets.cutOff(SYSTEM_SCOPE, clock.now().getTime());
  // One that was made anew under the id of another has nothing to do with it.
  for (const ofOne of Map.groupBy(found, ({ dataset }) => `${dataset.id} ${dataset.createdAt}`).values()) {
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
  const what = items.length < taken.length ? null : items;
  await whileHeld(deps, one.dataset, what, () => forgetAgain(deps, one.dataset, what, signal));
}

async function forgetAgain(
  deps: IngestDependencies,
  forgotten: ForgottenDataset,
  what: Forgotten,
  signal: AbortSignal,
): Promise<void> {
  const dataset = await deps.datasets.get(scopeOf(forgotten), forgotten.id);
  // Nobody can name it any more, but something may have been written since the last look.
  if (dataset === null) return removeLate(deps, { ...forgotten, name: '', updatedAt: null });
  if (dataset.createdAt !== forgotten.createdAt) return;
  const eraser = await asEraser(deps, dataset, signal);
  if (eraser === null) throw new Error('the dataset went meanwhile');
  await (what === null ? forgetDataset(deps, dataset, eraser) : forgetItems(deps, dataset, what, eraser));
}
