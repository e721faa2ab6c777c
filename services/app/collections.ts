import { authCollections } from '../auth/collections.ts';
import { cognifyCollections } from '../cognify/collections.ts';
import { eventsCollection } from '../common/platform/events/event-log.ts';
import { relayPositionsCollection } from '../common/platform/events/relay-position.ts';
import { jobsCollection } from '../common/platform/jobs/job-document.ts';
import { idempotencyKeysCollection } from '../common/platform/leases/idempotency-keys.ts';
import { erasedWithTenant, ownedBy } from '../common/records/collections.ts';
import type { AnyOwnedCollection } from '../common/storage/ports/owned-collection.ts';
import { improveCollections } from '../improve/collections.ts';
import { ingestCollections } from '../ingest/collections.ts';
import { installationCollection } from './installation.ts';

/** Every collection of the document store, so that each process prepares the same ones. */
export const collections: readonly AnyOwnedCollection[] = [
  ...authCollections,
  ...cognifyCollections,
  ...improveCollections,
  ...ingestCollections,
  ...ownedBy('integrations'),
  ...ownedBy('search'),
  eventsCollection,
  idempotencyKeysCollection,
  installationCollection,
  jobsCollection,
  relayPositionsCollection,
];

/** Lists the collections with documents of tenants; the log of events stays, and holds ids alone. */
export const tenantCollections = erasedWithTenant(collections);
