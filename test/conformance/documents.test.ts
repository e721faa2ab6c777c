import { openSqliteStore, openSqliteTwice } from '../support/document-stores.ts';
import { auditLogConformance } from './audit-log.ts';
import { documentStoreConformance } from './document-store.ts';
import { eventLogConformance } from './event-log.ts';
import { workQueueConformance } from './work-queue.ts';

documentStoreConformance('sqlite', openSqliteStore);
eventLogConformance('sqlite', openSqliteStore);
workQueueConformance('sqlite', openSqliteStore);
auditLogConformance('sqlite', openSqliteTwice);
