import { openMemoryStore, openSqliteStore } from './document-store-adapters.ts';
import { workQueueConformance } from './work-queue.ts';

workQueueConformance('memory', openMemoryStore);
workQueueConformance('sqlite', openSqliteStore);
