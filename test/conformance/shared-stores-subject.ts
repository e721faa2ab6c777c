import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDocumentStore } from '../../services/common/storage/documents/sqlite/document-store.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { createMemoryDocumentStore } from '../support/memory/document-store.ts';

/** One set of documents, opened as two processes have it open. */
export interface SharedStoresSubject {
  readonly stores: readonly [DocumentStore, DocumentStore];
  dispose(): Promise<void>;
}

export async function openMemoryTwice(): Promise<SharedStoresSubject> {
  const store = createMemoryDocumentStore();
  return { stores: [store, store], dispose: () => store.close() };
}

export async function openSqliteTwice(): Promise<SharedStoresSubject> {
  const directory = await mkdtemp(join(tmpdir(), 'engram-audit-'));
  const open = () => openSqliteDocumentStore({ file: join(directory, 'control.db'), autoMigrate: true });
  const stores = [await open(), await open()] as const;
  return {
    stores,
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      await rm(directory, { recursive: true });
    },
  };
}
