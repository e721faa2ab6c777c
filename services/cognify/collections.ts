import {
  reembeddedItemsCollection,
  vectorVersionsCollection,
} from '../common/records/cognify/vector-index-versions.ts';
import { erasedWithDataset, ownedBy } from '../common/records/collections.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { modelCacheCollection } from './repositories/model-cache.ts';

/** The collections that cognify owns. */
export const cognifyCollections: readonly AnyOwnedCollection[] = [...ownedBy('cognify'), modelCacheCollection];

/** Collections erased with the memory of a dataset, beside the rows of the indexes. */
export const memoryCollections = cognifyCollections.filter(({ isMemory }) => isMemory);

/** Removed last: where vectors are is known until none are left. */
const ofVectors: readonly AnyOwnedCollection[] = [vectorVersionsCollection, reembeddedItemsCollection];

/** Collections erased only with the dataset itself: model answers were paid for; a new dataset with its id has no history. */
export const builtCollections = erasedWithDataset(cognifyCollections).filter(
  (collection) => !collection.isMemory && !ofVectors.includes(collection),
);

/** Collections of cognify in a snapshot of a dataset. */
export const restoredCollections = cognifyCollections.filter(({ inSnapshots }) => inSnapshots);
