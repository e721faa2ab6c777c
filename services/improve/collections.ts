import { erasedWithDataset, ownedBy } from '../common/records/collections.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { structureItemsCollection } from './repositories/structure-items.ts';

/** The collections that improve owns. */
export const improveCollections: readonly AnyOwnedCollection[] = [...ownedBy('improve'), structureItemsCollection];

/** What improve has learned of datasets: it goes with them, and what is left is counted. */
export const learnedCollections = erasedWithDataset(improveCollections);
