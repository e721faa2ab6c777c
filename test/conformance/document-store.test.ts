import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryDocumentStore } from '../../services/common/adapters/memory/document-store.ts';
import { openSqliteDocumentStore } from '../../services/common/adapters/sqlite/document-store.ts';
import { documentStoreConformance } from './document-store.ts';

documentStoreConformance('memory', async () => {
  const store = createMemoryDocumentStore();
  return { store, dispose: () => store.close() };
});

documentStoreConformance('sqlite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engram-documents-'));
  const store = await openSqliteDocumentStore({ file: join(directory, 'control.db'), autoMigrate: true });
  return {
    store,
    async dispose() {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});
