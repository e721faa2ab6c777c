import type { DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies, ItemDependencies } from '../dependencies.ts';
import { deleteItemsDurably } from '../forgetting/durable-deletion.ts';
import { impersonateOwner } from '../forgetting/impersonate-owner.ts';

/** Items that are forgotten together; each batch is a renewed question to auth. */
const BATCH = 50;
/** Batches of one dataset in one pass: it must not keep others waiting. */
const BATCHES_PER_PASS = 10;

/**
 * Forgets items that were neither added, also again, nor replaced for longer than the resource of their dataset declares, on behalf of
 * the dataset's owner, whatever became of the account and the tenant. Returns how many went. One dataset's failure is logged and no other's.
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

async function expireOf(
  deps: IngestDependencies,
  dataset: DatasetRef,
  before: string,
  signal: AbortSignal,
): Promise<number> {
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
    // What comes to be too old from here on the next pass finds, should it still be declared.
    if (old.length < BATCH) break;
  }
  return forgotten;
}

/**
 * Those of them that nobody has replaced or added again since they were read: from now on nobody does, so that nothing is forgotten that
 * was said to be kept. What a process that dies here has claimed, the next pass finds old as before.
 */
async function claimed(
  { items, store }: ItemDependencies,
  dataset: DatasetRef,
  old: readonly DataItem[],
): Promise<readonly DataItemId[]> {
  const ids: DataItemId[] = [];
  for (const item of old) {
    try {
      if (!item.isExpiring) await store.commit(scopeOf(dataset), [items.expireWrite(item)]);
      ids.push(item.id);
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
  return ids;
}

/** The oldest that are too old. Those that were replaced or added again lately stand among them and stay. */
async function oldItems(
  { items }: ItemDependencies,
  dataset: DatasetRef,
  before: string,
): Promise<readonly DataItem[]> {
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
