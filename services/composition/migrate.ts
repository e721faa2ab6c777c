import { join } from 'node:path';
import { lockDataDirectory } from '../common/adapters/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../common/adapters/sqlite/document-store.ts';
import { migrateDatasetFiles } from '../common/adapters/sqlite-index/sqlite-dataset-indexes.ts';
import type { Config } from '../common/config/configuration.ts';
import { collections } from './collections.ts';

/**
 * Brings every file of the data directory to this release's layout, forward only, each file in one transaction. For
 * installations that start with `ENABLE_AUTO_MIGRATIONS=false`. Returns the number of dataset files.
 */
export async function migrateStores({ dataDir }: Config): Promise<number> {
  const lock = await lockDataDirectory(dataDir);
  try {
    const documents = await openSqliteDocumentStore({ file: join(dataDir, 'control.db'), autoMigrate: true });
    try {
      await documents.prepare(collections);
    } finally {
      await documents.close();
    }
    return migrateDatasetFiles(join(dataDir, 'datasets')).length;
  } finally {
    await lock.release();
  }
}
