import { openMemoryStore, openMemoryTwice, openSqliteStore, openSqliteTwice } from '../support/document-stores.ts';
import { auditLogConformance } from './audit-log.ts';
import { documentStoreConformance } from './document-store.ts';
import { eventLogConformance } from './event-log.ts';
import { workQueueConformance } from './work-queue.ts';

for (const suite of [documentStoreConformance, eventLogConformance, workQueueConformance]) {
  suite('memory', openMemoryStore);
  suite('sqlite', openSqliteStore);
}
auditLogConformance('memory', openMemoryTwice);
auditLogConformance('sqlite', openSqliteTwice);
