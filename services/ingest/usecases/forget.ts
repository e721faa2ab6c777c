import type { DataItemId } from '../../common/domain/brand.ts';
import { itemBlobs } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { removeDataset } from '../../common/messaging/methods/auth.ts';
import { eraseBuilt } from '../../common/messaging/methods/cognify.ts';
import { eraseSearched } from '../../common/messaging/methods/search.ts';
import type { IngestDependencies } from './dependencies.ts';

/**
 * Forgetting asks every owner to erase and to count what is left; anything left is an error, so a success means gone.
 * Invisible to readers first (cognify's tombstones), then erased; repeating it is harmless.
 */
export async function forgetItems(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[],
  context: CallContext,
): Promise<void> {
  const { items, blobs, store, eventLog, messenger } = dependencies;
  const scope = scopeOf(dataset);
  const { residue } = await messenger.call(eraseBuilt, { dataset, items: ids, memoryOnly: false }, context);
  await store.commit(scope, [
    ...items.removeWrites(ids),
    ...eventLog.appendWrites(
      scope,
      ids.map((id) => ({ type: 'item.forgotten', subjectId: id, data: {} })),
    ),
  ]);
  let left = residue + (await items.getMany(scope, ids)).length;
  for (const id of ids) {
    await blobs.removeAll(scope, itemBlobs.prefix(id));
    left += (await blobs.list(scope, { prefix: itemBlobs.prefix(id), limit: 1 })).items.length;
  }
  requireNothingLeft(left);
}

export async function forgetDataset(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  context: CallContext,
): Promise<void> {
  const { items, intents, blobs, store, messenger } = dependencies;
  const scope = scopeOf(dataset);
  const built = await messenger.call(eraseBuilt, { dataset, memoryOnly: false }, context);
  const searched = await messenger.call(eraseSearched, { dataset }, context);
  await intents.abandonAll(scope);
  await store.commit(scope, [...items.removeAllWrites()]);
  await blobs.removeAll(scope);
  const left = (await items.count(scope)) + (await blobs.list(scope, { limit: 1 })).items.length;
  requireNothingLeft(built.residue + searched.residue + left);
  await messenger.call(removeDataset, { dataset }, context);
}

/** Drops what was built and keeps the items, so that the dataset can be cognified anew. Returns how many were reset. */
export async function forgetMemory(
  { messenger }: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[] | null,
  context: CallContext,
): Promise<number> {
  const selection = ids === null ? {} : { items: ids };
  const { residue, itemsReset } = await messenger.call(
    eraseBuilt,
    { dataset, ...selection, memoryOnly: true },
    context,
  );
  requireNothingLeft(residue);
  return itemsReset;
}

function requireNothingLeft(residue: number): void {
  if (residue > 0)
    throw engramError('CogneeSystemError', `${residue} records are left after the deletion; repeat it`, {
      retryable: true,
    });
}
