import type { BudgetAccount } from '../../domain/budget.ts';
import { canaryAccount } from '../../domain/canary.ts';
import type { UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import { PERSONAL_TENANT, type Scope } from '../../kernel/scope.ts';
import type { DocumentStore, Query } from '../../storage/ports/document-store.ts';
import { datasetsCollection } from '../auth/datasets.ts';
import { dataItemsCollection } from '../ingest/data-items.ts';

interface StoredCounts {
  readonly items: number;
  readonly storageBytes: number;
  readonly datasets: number;
}

const PAGE = 1000;

type ItemDocument = NonNullable<(typeof dataItemsCollection)['document']>;
type DatasetDocument = NonNullable<(typeof datasetsCollection)['document']>;

/**
 * Counts what an account keeps, one record after the other: for a counter that is missing or outdated. Every change of data
 * needs the counter, so that nothing changes between the counting and the insertion of a counter that is missing.
 */
export async function countStored(store: DocumentStore, account: BudgetAccount): Promise<StoredCounts> {
  const [kind, id = ''] = account.split('/');
  if (kind === 'tenant') {
    const tenant = { tenant: asId<Scope['tenant']>(id) };
    const canary = canaryAccount(tenant.tenant);
    const datasets = await store.count(tenant, datasetsCollection, {});
    const uncounted = await store.count(tenant, datasetsCollection, { ownerId: canary });
    return { datasets: datasets - uncounted, ...(await countItems(store, tenant, canary)) };
  }
  let counts: StoredCounts = { items: 0, storageBytes: 0, datasets: 0 };
  const query: Query<DatasetDocument> = {
    where: { ownerId: id },
    sort: [{ field: 'ownerId' }, { field: 'name' }],
    limit: PAGE,
  };
  const read = (after: string | null) =>
    store.find({ tenant: PERSONAL_TENANT }, datasetsCollection, { ...query, after });
  for await (const datasets of pagesOf(read)) {
    for (const { id: dataset } of datasets) {
      const { items, storageBytes } = await countItems(store, { tenant: PERSONAL_TENANT, dataset: asId(dataset) });
      counts = {
        datasets: counts.datasets + 1,
        items: counts.items + items,
        storageBytes: counts.storageBytes + storageBytes,
      };
    }
  }
  return counts;
}

async function countItems(
  store: DocumentStore,
  scope: Scope,
  /** User whose items do not count. */
  uncounted?: UserId,
): Promise<Omit<StoredCounts, 'datasets'>> {
  let items = 0;
  let storageBytes = 0;
  const query: Query<ItemDocument> = { sort: [{ field: 'createdAt' }], limit: PAGE };
  for await (const found of pagesOf((after) => store.find(scope, dataItemsCollection, { ...query, after }))) {
    const counted = found.filter(({ value }) => value.ownerId !== uncounted);
    for (const { value } of counted) storageBytes += value.sizeBytes;
    items += counted.length;
  }
  return { items, storageBytes };
}
