import { removeWhere, type Write } from '../storage/ports/document-store.ts';
import { type AnyOwnedCollection, type CollectionOwner, ownerField } from '../storage/ports/owned-collection.ts';
import { agentConnectionsCollection } from './auth/agent-connections.ts';
import { apiKeysCollection } from './auth/api-keys.ts';
import { datasetsCollection } from './auth/datasets.ts';
import { managedResourcesCollection } from './auth/managed-resources.ts';
import { tenantsCollection } from './auth/tenants.ts';
import { usersCollection } from './auth/users.ts';
import { budgetsCollection } from './budgets/budgets.ts';
import { modelUsageCollection } from './budgets/model-usage.ts';
import { tokenReservationsCollection } from './budgets/token-reservations.ts';
import { usageCollection } from './budgets/usage.ts';
import { datasetConfigurationsCollection } from './cognify/dataset-configurations.ts';
import { indexRebuildsCollection } from './cognify/index-rebuilds.ts';
import { ledgerCollection } from './cognify/ledger.ts';
import { runRecordsCollection } from './cognify/run-records.ts';
import { runHeadsCollection, runResultsCollection, runsCollection } from './cognify/runs.ts';
import { scheduledStartsCollection } from './cognify/scheduled-starts.ts';
import { statementsCollection } from './cognify/statements.ts';
import { supersessionRevertsCollection, supersessionsCollection } from './cognify/supersessions.ts';
import { reembeddedItemsCollection, vectorVersionsCollection } from './cognify/vector-index-versions.ts';
import {
  contextEntitiesCollection,
  contextLeavesCollection,
  contextNodesCollection,
  contextStateCollection,
} from './improve/context-summaries.ts';
import { distillationsCollection } from './improve/distillations.ts';
import { elementWeightsCollection, weightVotesCollection } from './improve/element-weights.ts';
import { improveClaimsCollection } from './improve/improve-claims.ts';
import { improveRequestsCollection } from './improve/improve-requests.ts';
import {
  preferenceProgressCollection,
  preferencesCollection,
  preferenceWeightsCollection,
} from './improve/preferences.ts';
import { truthCentroidsCollection, truthCoordinatesCollection } from './improve/truth-state.ts';
import { watermarksCollection } from './improve/watermarks.ts';
import { blobIntentsCollection } from './ingest/blob-intents.ts';
import { dataItemsCollection } from './ingest/data-items.ts';
import { echoMarksCollection } from './ingest/echo-marks.ts';
import { ontologiesCollection, ontologyFilesCollection } from './ingest/ontologies.ts';
import { repetitionsCollection } from './ingest/repetitions.ts';
import { skillShelvesCollection, skillsCollection } from './ingest/skills.ts';
import { connectionsCollection } from './integrations/connections.ts';
import { credentialsCollection } from './integrations/credentials.ts';
import { answersCollection, deliveriesCollection, installsCollection } from './integrations/deliveries.ts';
import {
  sourceAccessCollection,
  sourceAudiencesCollection,
  sourceGroupsCollection,
} from './integrations/source-access.ts';
import { sourceCursorsCollection, sourceItemsCollection } from './integrations/source-items.ts';
import { syncOriginsCollection } from './integrations/sync-origins.ts';
import { syncRunsCollection } from './integrations/sync-runs.ts';
import { syncDuesCollection, syncedContentCollection, syncOffersCollection } from './integrations/sync-state.ts';
import { datasetCopiesCollection } from './search/dataset-copies.ts';
import { searchHistoryCollection } from './search/search-history.ts';
import { sessionContextCollection } from './sessions/session-context.ts';
import { sessionEntriesCollection } from './sessions/session-entry-documents.ts';
import { sessionsCollection } from './sessions/sessions.ts';

/** The collections whose repositories several services use; each service lists those of its own in its `collections.ts`. */
export const recordCollections: readonly AnyOwnedCollection[] = [
  answersCollection,
  agentConnectionsCollection,
  apiKeysCollection,
  blobIntentsCollection,
  budgetsCollection,
  connectionsCollection,
  contextEntitiesCollection,
  contextLeavesCollection,
  contextNodesCollection,
  contextStateCollection,
  credentialsCollection,
  dataItemsCollection,
  datasetConfigurationsCollection,
  datasetCopiesCollection,
  datasetsCollection,
  deliveriesCollection,
  distillationsCollection,
  echoMarksCollection,
  elementWeightsCollection,
  improveClaimsCollection,
  improveRequestsCollection,
  indexRebuildsCollection,
  installsCollection,
  ledgerCollection,
  managedResourcesCollection,
  modelUsageCollection,
  ontologiesCollection,
  ontologyFilesCollection,
  preferenceProgressCollection,
  preferenceWeightsCollection,
  preferencesCollection,
  reembeddedItemsCollection,
  repetitionsCollection,
  runHeadsCollection,
  runRecordsCollection,
  runResultsCollection,
  runsCollection,
  scheduledStartsCollection,
  searchHistoryCollection,
  sessionContextCollection,
  sessionEntriesCollection,
  sessionsCollection,
  skillShelvesCollection,
  skillsCollection,
  sourceAccessCollection,
  sourceAudiencesCollection,
  sourceCursorsCollection,
  sourceGroupsCollection,
  sourceItemsCollection,
  statementsCollection,
  supersessionRevertsCollection,
  supersessionsCollection,
  syncDuesCollection,
  syncOffersCollection,
  syncOriginsCollection,
  syncRunsCollection,
  syncedContentCollection,
  tenantsCollection,
  tokenReservationsCollection,
  truthCentroidsCollection,
  truthCoordinatesCollection,
  usageCollection,
  usersCollection,
  vectorVersionsCollection,
  watermarksCollection,
  weightVotesCollection,
];

export function ownedBy(owner: CollectionOwner): readonly AnyOwnedCollection[] {
  return recordCollections.filter((collection) => collection.owner === owner);
}

/** Returns the collections that are emptied when the dataset of their scope is erased. */
export function erasedWithDataset(collections: readonly AnyOwnedCollection[]): readonly AnyOwnedCollection[] {
  return collections.filter((collection) => ownerField(collection, 'dataset') === 'scope');
}

/** Returns the collections that are emptied when the tenant of their scope is erased. */
export function erasedWithTenant(collections: readonly AnyOwnedCollection[]): readonly AnyOwnedCollection[] {
  return collections.filter(({ level, belongsTo }) => level !== 'system' && belongsTo !== 'system');
}

/** Removes what the collection holds of a user or tenant, by the field that it declares for it. */
export function removeOfWrite(collection: AnyOwnedCollection, part: 'user' | 'tenant', id: string): Write {
  const field = ownerField(collection, part);
  if (field === null) throw new Error(`${collection.name} holds nothing of a ${part}`);
  return removeWhere(collection, { [field]: id });
}
