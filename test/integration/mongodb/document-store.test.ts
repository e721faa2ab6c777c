import { auditLogConformance } from '../../conformance/audit-log.ts';
import { documentStoreConformance } from '../../conformance/document-store.ts';
import { eventLogConformance } from '../../conformance/event-log.ts';
import { workQueueConformance } from '../../conformance/work-queue.ts';
import { withBackend } from '../backend.ts';
import { openMongodbStore, openMongodbTwice } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  documentStoreConformance('mongodb', () => openMongodbStore(url));
  eventLogConformance('mongodb', () => openMongodbStore(url));
  workQueueConformance('mongodb', () => openMongodbStore(url));
  auditLogConformance('mongodb', () => openMongodbTwice(url));
});
