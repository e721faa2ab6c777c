import { contextCollections } from '../common/records/improve/context-summaries.ts';
import { distillationsCollection } from '../common/records/improve/distillations.ts';
import { elementWeightsCollection, weightVotesCollection } from '../common/records/improve/element-weights.ts';
import { preferenceCollections } from '../common/records/improve/preferences.ts';
import { truthCollections } from '../common/records/improve/truth-state.ts';
import type { AnyCollection } from '../common/storage/ports/document-store.ts';
import { structureItemsCollection } from './repositories/structure-items.ts';

/** What improve has learned of datasets: it goes with them, and what is left is counted. Level `dataset`, one line each. */
export const learnedCollections: readonly AnyCollection[] = [
  elementWeightsCollection,
  weightVotesCollection,
  distillationsCollection,
  ...preferenceCollections,
  structureItemsCollection,
  ...contextCollections,
  ...truthCollections,
];
