import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileBlobStore } from '../../common/adapters/files/blob-store.ts';
import { createInProcessBus } from '../../common/adapters/in-process/bus.ts';
import { lockDataDirectory } from '../../common/adapters/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../../common/adapters/sqlite/document-store.ts';
import { createSqliteDatasetIndexes } from '../../common/adapters/sqlite-index/sqlite-dataset-indexes.ts';
import { createClosing, critical, once, probeDocuments, type SourceParts, type StoreSource } from './store-source.ts';

/** Files below the data directory, which must exist and which this process then owns alone. */
export async function openEmbeddedSource({ config, collections, logger }: SourceParts): Promise<StoreSource> {
  const { dataDir, autoMigrations: autoMigrate } = config;
  const closing = createClosing();
  const lock = await lockDataDirectory(dataDir);
  closing.add(() => lock.release());
  const writable = () => access(dataDir, constants.W_OK);
  const indexes = once(async () => {
    const opened = await createSqliteDatasetIndexes({
      directory: join(dataDir, 'datasets'),
      vectorMemoryBytes: config.vectorMemoryBytes,
      autoMigrate,
    });
    closing.add(() => opened.close());
    return opened;
  });
  return {
    async documents() {
      const store = await openSqliteDocumentStore({ file: join(dataDir, 'control.db'), autoMigrate, collections });
      closing.add(() => store.close());
      return { port: store, health: critical('sqlite', () => probeDocuments(store)) };
    },
    async blobs() {
      const store = await createFileBlobStore({ directory: join(dataDir, 'blobs') });
      return { port: store, health: critical('local', writable) };
    },
    async index() {
      return { port: await indexes(), health: critical('sqlite', writable) };
    },
    async graph() {
      return { port: (await indexes()).graph, health: critical('sqlite', writable) };
    },
    async bus() {
      const bus = createInProcessBus({
        onListenerError: (error, subject) => logger.error('bus.listener-failed', { subject, error }),
      });
      closing.add(() => bus.drain());
      return { port: bus, health: null };
    },
    prepare: () => void indexes().then((opened) => opened.prepare()),
    close: () => closing.closeAll(),
  };
}
