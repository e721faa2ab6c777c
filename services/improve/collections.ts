import type { AnyCollection } from '../common/ports/document-store.ts';
import { contextCollections } from '../common/repositories/context-summaries.ts';
import { distillationsCollection } from '../common/repositories/distillations.ts';
import { elementWeightsCollection, weightVotesCollection } from '../common/repositories/element-weights.ts';
import { improveClaimsCollection } from '../common/repositories/improve-claims.ts';
import { improveWishesCollection } from '../common/repositories/improve-wishes.ts';
import { preferenceCollections } from '../common/repositories/preferences.ts';
import { scheduledStartsCollection } from '../common/repositories/scheduled-starts.ts';
import { sessionContextCollection } from '../common/repositories/session-context.ts';
import { structureItemsCollection } from '../common/repositories/structure-items.ts';
import { truthCollections } from '../common/repositories/truth-state.ts';
import { watermarksCollection } from '../common/repositories/watermarks.ts';

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

/** What the composition root prepares in the document store for this service. */
export const improveCollections: readonly AnyCollection[] = [
  ...learnedCollections,
  improveClaimsCollection,
  improveWishesCollection,
  scheduledStartsCollection,
  sessionContextCollection,
  watermarksCollection,
];
