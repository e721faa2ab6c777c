import type { DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { ignoreConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { deleteItemsDurably } from '../forgetting/durable-deletion.ts';
import { impersonateOwner } from '../forgetting/impersonate-owner.ts';

/** Items that are deleted together; auth is asked again for each batch. */
const BATCH = 50;
/** Batches of one dataset in one pass, so that others need not wait. */
const BATCHES_PER_PASS = 10;

/**
 * Deletes items that were not added, added again or replaced for longer than the resource of their dataset declares, on
 * behalf of the dataset's owner, also of an inactive one. Returns their number. A failure of one dataset is logged and
 * does not affect others.
 */
export async function expireItems(deps: IngestDependencies, signal: AbortSignal): Promise<number> {
  const { clock, datasets, retentions, logger } = deps;
  let forgotten = 0;
  for await (const { owner, retention } of retentions.ofDatasets.all()) {
    signal.throwIfAborted();
    const dataset = await datasets.get(owner, owner.dataset);
    if (dataset === null) continue;
    const before = new Date(clock.now().getTime() - retention.itemsMs).toISOString();
    try {
      forgotten += await expireOf(deps, dataset, before, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn('ingest.items.expiry.failed', { error, datasetId: dataset.id });
    }
  }
  return forgotten;
}

async function expireOf(deps: IngestDependencies, dataset: DatasetRef, before: string, signal: AbortSignal) {
  let forgotten = 0;
  for (let batch = 0; batch < BATCHES_PER_PASS; batch += 1) {
    signal.throwIfAborted();
    const old = await oldItems(deps, dataset, before);
    if (old.length === 0) break;
    const context = await impersonateOwner(deps, dataset, signal);
    if (context === null) break;
    const ids = await claimed(deps, dataset, old);
    if (ids.length > 0) await deleteItemsDurably(deps, dataset, ids, context);
    forgotten += ids.length;
    // Items that become too old from here on are left to the next pass.
    if (old.length < BATCH) break;
  }
  return forgotten;
}

/**
 * Claims those of the items that were not replaced or added again since they were read: from now on they cannot be, so
 * that no item is deleted that was reported as stored. When the process dies here, the next pass finds them again.
 */
async function claimed({ items, store }: IngestDependencies, dataset: DatasetRef, old: readonly DataItem[]) {
  const ids: DataItemId[] = [];
  for (const item of old) {
    const isClaimed =
      item.isExpiring || (await ignoreConflict(store.commit(scopeOf(dataset), [items.expireWrite(item)])));
    if (isClaimed) ids.push(item.id);
  }
  return ids;
}

/** Returns the oldest items that are too old, without those that were replaced or added again lately. */
async function oldItems({ items }: IngestDependencies, dataset: DatasetRef, before: string) {
  const found: DataItem[] = [];
  for await (const page of pagesOf((after) => items.oldestFirst(scopeOf(dataset), { after, limit: BATCH }))) {
    for (const item of page) {
      if (item.createdAt >= before) return found;
      if (lastChange(item) < before) found.push(item);
      if (found.length === BATCH) return found;
    }
  }
  return found;
}

function lastChange({ createdAt, updatedAt, addedAgainAt = '' }: DataItem): string {
  const changedAt = updatedAt ?? createdAt;
  return addedAgainAt > changedAt ? addedAgainAt : changedAt;
}
