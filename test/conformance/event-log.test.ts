import { openMemoryStore, openSqliteStore } from './document-store-adapters.ts';
import { eventLogConformance } from './event-log.ts';

eventLogConformance('memory', openMemoryStore);
eventLogConformance('sqlite', openSqliteStore);
