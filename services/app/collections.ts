import { accountMailsCollection } from '../auth/repositories/account-mails.ts';
import { auditRecordsCollection } from '../auth/repositories/audit-log.ts';
import { capabilityGrantsCollection } from '../auth/repositories/capability-grants.ts';
import { erasureReceiptsCollection } from '../auth/repositories/erasure-receipts.ts';
import { grantsCollection } from '../auth/repositories/grants.ts';
import { linkedIdentitiesCollection } from '../auth/repositories/linked-identities.ts';
import { loginFailuresCollection } from '../auth/repositories/login-failures.ts';
import { managedGrantsCollection } from '../auth/repositories/managed-grants.ts';
import { membershipsCollection } from '../auth/repositories/memberships.ts';
import { modelSettingsCollection } from '../auth/repositories/model-settings.ts';
import { revokedTokensCollection } from '../auth/repositories/revoked-tokens.ts';
import { roleMembersCollection } from '../auth/repositories/role-members.ts';
import { rolesCollection } from '../auth/repositories/roles.ts';
import { scimGroupsCollection, scimUsersCollection } from '../auth/repositories/scim-resources.ts';
import { signInAttemptsCollection } from '../auth/repositories/sign-in-attempts.ts';
import { storedConfigurationsCollection } from '../auth/repositories/stored-configurations.ts';
import { tenantEmbeddersCollection } from '../auth/repositories/tenant-embedders.ts';
import { tenantHostsCollection } from '../auth/repositories/tenant-hosts.ts';
import { tenantModelsCollection } from '../auth/repositories/tenant-models.ts';
import { modelCacheCollection } from '../cognify/repositories/model-cache.ts';
import { eventsCollection } from '../common/platform/events/event-log.ts';
import { relayPositionsCollection } from '../common/platform/events/relay-position.ts';
import { jobsCollection } from '../common/platform/jobs/work-queue.ts';
import { agentConnectionsCollection } from '../common/records/auth/agent-connections.ts';
import { apiKeysCollection } from '../common/records/auth/api-keys.ts';
import { datasetsCollection } from '../common/records/auth/datasets.ts';
import { managedResourcesCollection } from '../common/records/auth/managed-resources.ts';
import { tenantsCollection } from '../common/records/auth/tenants.ts';
import { usersCollection } from '../common/records/auth/users.ts';
import { budgetsCollection } from '../common/records/budgets/budgets.ts';
import { tokenReservationsCollection } from '../common/records/budgets/token-reservations.ts';
import { usageCollection } from '../common/records/budgets/usage.ts';
import { datasetConfigurationsCollection } from '../common/records/cognify/dataset-configurations.ts';
import { indexRebuildsCollection } from '../common/records/cognify/index-rebuilds.ts';
import { ledgerCollection } from '../common/records/cognify/ledger.ts';
import { runRecordsCollection } from '../common/records/cognify/run-records.ts';
import { runHeadsCollection, runResultsCollection, runsCollection } from '../common/records/cognify/runs.ts';
import { scheduledStartsCollection } from '../common/records/cognify/scheduled-starts.ts';
import { statementsCollection } from '../common/records/cognify/statements.ts';
import { supersessionRevertsCollection, supersessionsCollection } from '../common/records/cognify/supersessions.ts';
import { vectorHomeCollections } from '../common/records/cognify/vector-homes.ts';
import { contextCollections } from '../common/records/improve/context-summaries.ts';
import { distillationsCollection } from '../common/records/improve/distillations.ts';
import { elementWeightsCollection, weightVotesCollection } from '../common/records/improve/element-weights.ts';
import { improveClaimsCollection } from '../common/records/improve/improve-claims.ts';
import { improveWishesCollection } from '../common/records/improve/improve-wishes.ts';
import { preferenceCollections } from '../common/records/improve/preferences.ts';
import { truthCollections } from '../common/records/improve/truth-state.ts';
import { watermarksCollection } from '../common/records/improve/watermarks.ts';
import { blobIntentsCollection } from '../common/records/ingest/blob-intents.ts';
import { dataItemsCollection } from '../common/records/ingest/data-items.ts';
import { echoMarksCollection } from '../common/records/ingest/echo-marks.ts';
import { repetitionsCollection } from '../common/records/ingest/repetitions.ts';
import { skillShelvesCollection, skillsCollection } from '../common/records/ingest/skills.ts';
import { syncRunsCollection } from '../common/records/integrations/sync-runs.ts';
import { syncStateCollections } from '../common/records/integrations/sync-state.ts';
import { searchHistoryCollection } from '../common/records/search/search-history.ts';
import { sessionContextCollection } from '../common/records/sessions/session-context.ts';
import { sessionEntriesCollection } from '../common/records/sessions/session-entries.ts';
import { sessionsCollection } from '../common/records/sessions/sessions.ts';
import type { AnyCollection } from '../common/storage/ports/document-store.ts';
import { structureItemsCollection } from '../improve/repositories/structure-items.ts';
import { begunForgetsCollection } from '../ingest/repositories/begun-forgets.ts';
import { erasuresCollection } from '../ingest/repositories/erasures.ts';
import { ownRestoresCollection } from '../ingest/repositories/own-restores.ts';
import { skillProposalsCollection } from '../ingest/repositories/proposals.ts';
import { restoresCollection } from '../ingest/repositories/restores.ts';
import { datasetRetentionCollection, tenantRetentionCollection } from '../ingest/repositories/retention.ts';
import { skillRunsCollection } from '../ingest/repositories/skill-runs.ts';
import { snapshotsCollection } from '../ingest/repositories/snapshots.ts';
import { installationCollection } from './installation.ts';
import { modelUsageCollection } from './model-usage.ts';

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
