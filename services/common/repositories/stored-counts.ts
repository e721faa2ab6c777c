import type { UserId } from '../domain/brand.ts';
import type { BudgetAccount } from '../domain/budget.ts';
import { canaryAccount } from '../domain/canary.ts';
import { asId } from '../domain/ids.ts';
import type { Page } from '../domain/result-page.ts';
import { PERSONAL_TENANT, type Scope } from '../domain/scope.ts';
import type { DocumentStore, Query, Stored } from '../ports/document-store.ts';
import { dataItemsCollection } from './data-items.ts';
import { datasetsCollection } from './datasets.ts';

export interface StoredCounts {
  readonly items: number;
  readonly storageBytes: number;
  readonly datasets: number;
}

const PAGE = 1000;

type ItemDocument = NonNullable<(typeof dataItemsCollection)['document']>;
type ItemPage = Page<Stored<ItemDocument>>;
type DatasetPage = Page<Stored<NonNullable<(typeof datasetsCollection)['document']>>>;

/**
 * Counts what an account keeps, one record after the other: for data from before there were counters. Every change of data
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
  let after: string | null = null;
  do {
    const page: DatasetPage = await store.find({ tenant: PERSONAL_TENANT }, datasetsCollection, {
      where: { ownerId: id },
      sort: [{ field: 'ownerId' }, { field: 'name' }],
      limit: PAGE,
      after,
    });
    for (const { id: dataset } of page.items) {
      const { items, storageBytes } = await countItems(store, { tenant: PERSONAL_TENANT, dataset: asId(dataset) });
      counts = {
        datasets: counts.datasets + 1,
        items: counts.items + items,
        storageBytes: counts.storageBytes + storageBytes,
      };
    }
    after = page.next;
  } while (after !== null);
  return counts;
}

async function countItems(
  store: DocumentStore,
  scope: Scope,
  /** Whose do not count. */
  uncounted?: UserId,
): Promise<Omit<StoredCounts, 'datasets'>> {
  let items = 0;
  let storageBytes = 0;
  let after: string | null = null;
  do {
    const query: Query<ItemDocument> = { sort: [{ field: 'createdAt' }], limit: PAGE, after };
    const { items: found, next }: ItemPage = await store.find(scope, dataItemsCollection, query);
    const counted = found.filter(({ value }) => value.ownerId !== uncounted);
    for (const { value } of counted) storageBytes += value.sizeBytes;
    items += counted.length;
    after = next;
  } while (after !== null);
  return { items, storageBytes };
}
