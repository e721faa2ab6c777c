import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDocumentStore } from '../../services/common/storage/documents/sqlite/document-store.ts';
import { createMemoryDocumentStore } from '../support/memory/document-store.ts';
import type { DocumentStoreSubject } from './document-store-subject.ts';

/** The document stores that need no server, each empty and of its own. */
export async function openMemoryStore(): Promise<DocumentStoreSubject> {
  const store = createMemoryDocumentStore();
  return { store, dispose: () => store.close() };
}

export async function openSqliteStore(): Promise<DocumentStoreSubject> {
  const directory = await mkdtemp(join(tmpdir(), 'engram-documents-'));
  const store = await openSqliteDocumentStore({ file: join(directory, 'control.db'), autoMigrate: true });
  return {
    store,
    async dispose() {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}
