import { join } from 'node:path';
import type { Config } from '../common/platform/config/configuration.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import { lockDataDirectory } from '../common/storage/documents/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../common/storage/documents/sqlite/document-store.ts';
import { migrateDatasetFiles } from '../common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import { collections } from './collections.ts';
import { createClusterSource } from './stores/cluster-source.ts';

/**
 * Brings the stores to this release's layout: the collections and indexes of the document store, and the dataset files of
 * embedded indexes. Returns the number of those.
 */
export async function migrateStores(config: Config, logger: Logger): Promise<number> {
  const isCluster = config.stores.documents === 'cluster';
  if (isCluster) {
    const source = createClusterSource({ config, collections, logger });
    try {
      await source.documents();
    } finally {
      await source.close();
    }
  }
  const hasFiles = !isCluster || config.stores.index === 'embedded' || config.stores.graph === 'embedded';
  return hasFiles ? migrateFiles(config, { withDocuments: !isCluster }) : 0;
}

/**
 * Brings every file of the data directory to this release's layout, forward only, each file in one transaction. For
 * installations that start with `ENABLE_AUTO_MIGRATIONS=false`. Returns the number of dataset files.
 */
async function migrateFiles(
  { dataDir }: Config,
  { withDocuments }: { readonly withDocuments: boolean },
): Promise<number> {
  const lock = await lockDataDirectory(dataDir);
  try {
    if (withDocuments) await migrateDocuments(join(dataDir, 'control.db'));
    return migrateDatasetFiles(join(dataDir, 'datasets')).length;
  } finally {
    await lock.release();
  }
}

async function migrateDocuments(file: string): Promise<void> {
  const documents = await openSqliteDocumentStore({ file, autoMigrate: true });
  try {
    await documents.prepare(collections);
  } finally {
    await documents.close();
  }
}
