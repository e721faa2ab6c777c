import { join } from 'node:path';
import { type BudgetAccount, homesOf } from '../common/domain/budget.ts';
import type { UserId } from '../common/kernel/brand.ts';
import { asId } from '../common/kernel/ids.ts';
import { PERSONAL_TENANT, type Scope, SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import { datasetsCollection } from '../common/records/auth/datasets.ts';
import { findAll } from '../common/records/base/find-all.ts';
import { createUsage, outdateWrite } from '../common/records/budgets/usage.ts';
import { lockDataDirectory } from '../common/storage/documents/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../common/storage/documents/sqlite/document-store.ts';
import { migrateDatasetFiles } from '../common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
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
      const { port } = await source.documents();
      await recountStored(port);
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
    await recountStored(documents);
  } finally {
    await documents.close();
  }
}

/**
 * Counts anew what every tenant and account keeps, for data of releases that did not count; also while others work on it:
 * without a current counter nothing changes. API keys keep their counts, which no data before them has. Returns the number of accounts.
 */
export async function recountStored(store: DocumentStore): Promise<number> {
  const usage = createUsage(store);
  const homes = new Set<BudgetAccount>();
  for (const { value, tenant } of await findAll(store, SYSTEM_SCOPE, datasetsCollection)) {
    const dataset = { tenant: asId<Scope['tenant']>(tenant ?? PERSONAL_TENANT), ownerId: asId<UserId>(value.ownerId) };
    for (const home of homesOf(dataset)) homes.add(home);
  }
  for (const account of homes) {
    await store.commit({ tenant: PERSONAL_TENANT }, [outdateWrite(account)]);
    await usage.create(account, 'stored', null);
  }
  return homes.size;
}
