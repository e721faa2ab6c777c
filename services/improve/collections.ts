import type { AnyCollection } from '../common/ports/document-store.ts';
import { contextCollections } from '../common/repositories/context-summaries.ts';
import { distillationsCollection } from '../common/repositories/distillations.ts';
import { elementWeightsCollection, weightVotesCollection } from '../common/repositories/element-weights.ts';
import { preferenceCollections } from '../common/repositories/preferences.ts';
import { structureItemsCollection } from '../common/repositories/structure-items.ts';
import { truthCollections } from '../common/repositories/truth-state.ts';

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
