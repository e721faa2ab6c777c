import { type Bill, type Charge, homesOf, keyAccount } from '../../common/domain/budget.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { retry } from '../../common/platform/async/retry.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Returns what is committed together with the removal of the items that are there. */
type WithRemoval = (present: readonly DataItem[]) => {
  readonly writes: readonly Write[];
  /** Null: the removal is recorded elsewhere. */
  readonly entry: AuditEntry | null;
};

/** Removes the records of the items and refunds their quota in one commit. Missing ones are ignored. */
export async function removeItems(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[],
  withRemoval: WithRemoval,
): Promise<void> {
  const { items, store, audit, budgets } = dependencies;
  const scope = scopeOf(dataset);
  const remove = async (): Promise<void> => {
    const present = await items.getMany(scope, ids);
    const { writes, entry } = withRemoval(present);
    await budgets.charge(returnBill(dataset, present), async (charged) => {
      const all = [...charged, ...items.removeWrites(present), ...writes];
      await (entry === null ? store.commit(scope, all) : audit.commit(scope, all, [entry]));
    });
  };
  await retry(remove, { isRetryable: isItemConflict });
}

/** Whether another request changed or removed one of the items in between. */
function isItemConflict(error: unknown): boolean {
  return error instanceof VersionConflictError && error.collection === dataItemsCollection.name;
}

/** Items of one commit: each is two writes. */
const PAGE = 500;

/** Removes all items of the dataset, in parts; the quota is right after each part. */
export async function removeAllItems(dependencies: IngestDependencies, dataset: DatasetRef): Promise<void> {
  const scope = scopeOf(dataset);
  const nothingElse = () => ({ writes: [], entry: null });
  for (;;) {
    const { items: page } = await dependencies.items.oldestFirst(scope, { after: null, limit: PAGE });
    const ids = page.map(({ id }) => id);
    if (page.length > 0) await removeItems(dependencies, dataset, ids, nothingElse);
    if (page.length < PAGE) return;
  }
}

/** The refund of removed items: for the home of their dataset, and for the API keys that they were added by. */
function returnBill(dataset: DatasetRef, removed: readonly DataItem[]): Bill {
  const byKey = Map.groupBy(
    removed.filter(({ keyId }) => keyId),
    ({ keyId }) => keyId ?? '',
  );
  const keys = [...byKey].map(([id, items]): Charge => ({ account: keyAccount(id), demand: returned(items) }));
  const homes = homesOf(dataset).map((account): Charge => ({ account, demand: returned(removed) }));
  return { tenant: dataset.tenant, charges: [...homes, ...keys] };
}

function returned(items: readonly DataItem[]) {
  const bytes = items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { items: -items.length, storageBytes: -bytes };
}
