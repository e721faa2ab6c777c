import { documentStoreConformance } from './document-store.ts';
import { openMemoryStore, openSqliteStore } from './document-store-adapters.ts';

documentStoreConformance('memory', openMemoryStore);
documentStoreConformance('sqlite', openSqliteStore);
