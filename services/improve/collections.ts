import { erasedWithDataset, ownedBy } from '../common/records/collections.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { structureItemsCollection } from './repositories/structure-items.ts';

export const improveCollections: readonly AnyOwnedCollection[] = [...ownedBy('improve'), structureItemsCollection];

/** Collections of what improve has learned of datasets; erased and counted with them. */
export const learnedCollections = erasedWithDataset(improveCollections);
