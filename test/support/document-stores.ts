import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDocumentStore } from '../../services/common/storage/documents/sqlite/document-store.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';

/** An empty document store of a test. */
export interface DocumentStoreSubject {
  readonly store: DocumentStore;
  dispose(): Promise<void>;
}

/** One set of documents, opened as two processes have it open. */
export interface SharedDocuments {
  readonly stores: readonly [DocumentStore, DocumentStore];
  dispose(): Promise<void>;
}

export async function openSqliteStore(): Promise<DocumentStoreSubject> {
  const { open, dispose } = await sqliteFile();
  return { store: await open(), dispose };
}

export async function openSqliteTwice(): Promise<SharedDocuments> {
  const { open, dispose } = await sqliteFile();
  return { stores: [await open(), await open()], dispose };
}

async function sqliteFile() {
  const directory = await mkdtemp(join(tmpdir(), 'engram-documents-'));
  const opened: DocumentStore[] = [];
  return {
    async open() {
      const store = await openSqliteDocumentStore({ file: join(directory, 'control.db'), autoMigrate: true });
      opened.push(store);
      return store;
    },
    async dispose() {
      await Promise.all(opened.map((store) => store.close()));
      await rm(directory, { recursive: true });
    },
  };
}
