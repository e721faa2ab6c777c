import { ledgerCollection } from '../common/records/cognify/ledger.ts';
import { statementsCollection } from '../common/records/cognify/statements.ts';
import { supersessionsCollection } from '../common/records/cognify/supersessions.ts';
import { erasedWithDataset, ownedBy, recordCollections } from '../common/records/collections.ts';
import { blobIntentsCollection } from '../common/records/ingest/blob-intents.ts';
import { dataItemsCollection } from '../common/records/ingest/data-items.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { erasuresCollection } from './repositories/erasures.ts';
import { skillProposalsCollection } from './repositories/proposals.ts';
import { ownRestoresCollection, restoresCollection } from './repositories/restores.ts';
import { datasetRetentionCollection, tenantRetentionCollection } from './repositories/retention.ts';
import { skillRunsCollection } from './repositories/skill-runs.ts';
import { snapshotsCollection } from './repositories/snapshots.ts';

export const ingestCollections: readonly AnyOwnedCollection[] = [
  ...ownedBy('ingest'),
  datasetRetentionCollection,
  erasuresCollection,
  ownRestoresCollection,
  restoresCollection,
  skillProposalsCollection,
  skillRunsCollection,
  snapshotsCollection,
  tenantRetentionCollection,
];

/** Removed in steps of their own: items are counted, and have blobs; intents are abandoned first. */
const inSteps: readonly AnyOwnedCollection[] = [dataItemsCollection, blobIntentsCollection];

/** Collections that ingest empties when a dataset is forgotten, beside its items, sessions and blobs; also for integrations. */
export const forgottenCollections = [
  ...erasedWithDataset(ingestCollections).filter((collection) => !inSteps.includes(collection)),
  ...erasedWithDataset(ownedBy('integrations')),
];

const inSnapshots = recordCollections.filter((collection) => collection.inSnapshots);

/** Collections of which a snapshot holds only what belongs to committed builds. */
const filtered: readonly AnyOwnedCollection[] = [
  dataItemsCollection,
  ledgerCollection,
  statementsCollection,
  supersessionsCollection,
];

/** Copied into a snapshot as they are. Sessions, ratings and what was learned of users are the users', and stay with them. */
export const copiedCollections = inSnapshots.filter((collection) => !filtered.includes(collection));

/** Collections that ingest restores, beside the items; also for improve, which knows no dataset before it can be named. */
export const restoredCollections = inSnapshots.filter(
  (collection) => collection.owner !== 'cognify' && collection !== dataItemsCollection,
);
