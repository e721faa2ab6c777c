import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import type { EraseLearnedResponse } from '../../common/messaging/methods/improve.ts';
import { type DocumentStore, removeWhere } from '../../common/ports/document-store.ts';
import type { ImproveWishes } from '../../common/repositories/improve-wishes.ts';
import { learnedCollections } from '../collections.ts';

/**
 * Removes what was learned of a dataset, and the wishes for it. What sessions had got to stays: their content does not come
 * back into another dataset because this one was deleted.
 */
export async function eraseLearned(
  { store, wishes }: { readonly store: DocumentStore; readonly wishes: ImproveWishes },
  dataset: DatasetRef,
): Promise<EraseLearnedResponse> {
  const scope = scopeOf(dataset);
  let removed = 0;
  // One commit each: great numbers go in parts.
  for (const collection of learnedCollections) {
    const results = await store.commit(scope, [removeWhere(collection, {})]);
    for (const { changed } of results) removed += changed;
  }
  await store.commit({ tenant: dataset.tenant }, [wishes.removeOfDatasetWrite(dataset.id)]);
  let residue = await wishes.countOfDataset({ tenant: dataset.tenant }, dataset.id);
  for (const collection of learnedCollections) residue += await store.count(scope, collection, {});
  return { removed, residue };
}
