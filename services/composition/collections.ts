import type { AnyCollection } from '../common/ports/document-store.ts';
import { accountMailsCollection } from '../common/repositories/account-mails.ts';
import { agentConnectionsCollection } from '../common/repositories/agent-connections.ts';
import { apiKeysCollection } from '../common/repositories/api-keys.ts';
import { auditRecordsCollection } from '../common/repositories/audit-log.ts';
import { begunForgetsCollection } from '../common/repositories/begun-forgets.ts';
import { blobIntentsCollection } from '../common/repositories/blob-intents.ts';
import { budgetsCollection } from '../common/repositories/budgets.ts';
import { capabilityGrantsCollection } from '../common/repositories/capability-grants.ts';
import { contextCollections } from '../common/repositories/context-summaries.ts';
import { dataItemsCollection } from '../common/repositories/data-items.ts';
import { datasetConfigurationsCollection } from '../common/repositories/dataset-configurations.ts';
import { datasetsCollection } from '../common/repositories/datasets.ts';
import { distillationsCollection } from '../common/repositories/distillations.ts';
import { echoMarksCollection } from '../common/repositories/echo-marks.ts';
import { elementWeightsCollection, weightVotesCollection } from '../common/repositories/element-weights.ts';
import { erasureReceiptsCollection } from '../common/repositories/erasure-receipts.ts';
import { erasuresCollection } from '../common/repositories/erasures.ts';
import { grantsCollection } from '../common/repositories/grants.ts';
import { improveClaimsCollection } from '../common/repositories/improve-claims.ts';
import { improveWishesCollection } from '../common/repositories/improve-wishes.ts';
import { indexRebuildsCollection } from '../common/repositories/index-rebuilds.ts';
import { installationCollection } from '../common/repositories/installation.ts';
import { ledgerCollection } from '../common/repositories/ledger.ts';
import { linkedIdentitiesCollection } from '../common/repositories/linked-identities.ts';
import { loginFailuresCollection } from '../common/repositories/login-failures.ts';
import { managedGrantsCollection } from '../common/repositories/managed-grants.ts';
import { managedResourcesCollection } from '../common/repositories/managed-resources.ts';
import { membershipsCollection } from '../common/repositories/memberships.ts';
import { modelCacheCollection } from '../common/repositories/model-cache.ts';
import { modelSettingsCollection } from '../common/repositories/model-settings.ts';
import { modelUsageCollection } from '../common/repositories/model-usage.ts';
import { ownRestoresCollection } from '../common/repositories/own-restores.ts';
import { preferenceCollections } from '../common/repositories/preferences.ts';
import { skillProposalsCollection } from '../common/repositories/proposals.ts';
import { repetitionsCollection } from '../common/repositories/repetitions.ts';
import { restoresCollection } from '../common/repositories/restores.ts';
import { datasetRetentionCollection, tenantRetentionCollection } from '../common/repositories/retention.ts';
import { revokedTokensCollection } from '../common/repositories/revoked-tokens.ts';
import { roleMembersCollection } from '../common/repositories/role-members.ts';
import { rolesCollection } from '../common/repositories/roles.ts';
import { runRecordsCollection } from '../common/repositories/run-records.ts';
import { runHeadsCollection, runResultsCollection, runsCollection } from '../common/repositories/runs.ts';
import { scheduledStartsCollection } from '../common/repositories/scheduled-starts.ts';
import { scimGroupsCollection, scimUsersCollection } from '../common/repositories/scim-resources.ts';
import { searchHistoryCollection } from '../common/repositories/search-history.ts';
import { sessionContextCollection } from '../common/repositories/session-context.ts';
import { sessionEntriesCollection } from '../common/repositories/session-entries.ts';
import { sessionsCollection } from '../common/repositories/sessions.ts';
import { signInAttemptsCollection } from '../common/repositories/sign-in-attempts.ts';
import { skillRunsCollection } from '../common/repositories/skill-runs.ts';
import { skillShelvesCollection, skillsCollection } from '../common/repositories/skills.ts';
import { snapshotsCollection } from '../common/repositories/snapshots.ts';
import { statementsCollection } from '../common/repositories/statements.ts';
import { storedConfigurationsCollection } from '../common/repositories/stored-configurations.ts';
import { structureItemsCollection } from '../common/repositories/structure-items.ts';
import { supersessionRevertsCollection, supersessionsCollection } from '../common/repositories/supersessions.ts';
import { syncRunsCollection } from '../common/repositories/sync-runs.ts';
import { syncStateCollections } from '../common/repositories/sync-state.ts';
import { tenantEmbeddersCollection } from '../common/repositories/tenant-embedders.ts';
import { tenantHostsCollection } from '../common/repositories/tenant-hosts.ts';
import { tenantModelsCollection } from '../common/repositories/tenant-models.ts';
import { tenantsCollection } from '../common/repositories/tenants.ts';
import { tokenReservationsCollection } from '../common/repositories/token-reservations.ts';
import { truthCollections } from '../common/repositories/truth-state.ts';
import { usageCollection } from '../common/repositories/usage.ts';
import { usersCollection } from '../common/repositories/users.ts';
import { vectorHomeCollections } from '../common/repositories/vector-homes.ts';
import { watermarksCollection } from '../common/repositories/watermarks.ts';
import { eventsCollection } from '../common/runs/event-log.ts';
import { relayPositionsCollection } from '../common/runs/relay-position.ts';
import { jobsCollection } from '../common/runs/work-queue.ts';

/** Every collection of the document store, so that each process prepares the same ones. */
export const collections: readonly AnyCollection[] = [
  accountMailsCollection,
  agentConnectionsCollection,
  apiKeysCollection,
  auditRecordsCollection,
  begunForgetsCollection,
  blobIntentsCollection,
  budgetsCollection,
  capabilityGrantsCollection,
  ...contextCollections,
  dataItemsCollection,
  datasetConfigurationsCollection,
  datasetRetentionCollection,
  datasetsCollection,
  distillationsCollection,
  echoMarksCollection,
  elementWeightsCollection,
  erasureReceiptsCollection,
  erasuresCollection,
  eventsCollection,
  grantsCollection,
  improveClaimsCollection,
  improveWishesCollection,
  jobsCollection,
  installationCollection,
  ledgerCollection,
  linkedIdentitiesCollection,
  loginFailuresCollection,
  managedGrantsCollection,
  managedResourcesCollection,
  membershipsCollection,
  modelCacheCollection,
  modelSettingsCollection,
  modelUsageCollection,
  ...preferenceCollections,
  relayPositionsCollection,
  repetitionsCollection,
  restoresCollection,
  revokedTokensCollection,
  roleMembersCollection,
  rolesCollection,
  runHeadsCollection,
  runRecordsCollection,
  runResultsCollection,
  runsCollection,
  scheduledStartsCollection,
  indexRebuildsCollection,
  scimGroupsCollection,
  scimUsersCollection,
  searchHistoryCollection,
  sessionContextCollection,
  sessionEntriesCollection,
  sessionsCollection,
  signInAttemptsCollection,
  skillProposalsCollection,
  skillRunsCollection,
  skillShelvesCollection,
  skillsCollection,
  snapshotsCollection,
  ownRestoresCollection,
  statementsCollection,
  storedConfigurationsCollection,
  structureItemsCollection,
  supersessionRevertsCollection,
  supersessionsCollection,
  syncRunsCollection,
  ...syncStateCollections,
  tenantEmbeddersCollection,
  tenantHostsCollection,
  tenantModelsCollection,
  tenantRetentionCollection,
  tenantsCollection,
  tokenReservationsCollection,
  ...truthCollections,
  usageCollection,
  usersCollection,
  ...vectorHomeCollections,
  watermarksCollection,
  weightVotesCollection,
];

/** Those with documents of tenants; what tells of the past stays, and holds ids alone. */
export const tenantCollections: readonly AnyCollection[] = collections.filter(
  (collection) => collection.level !== 'system' && collection !== eventsCollection,
);
