import { contentVersion, type DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { builtStatistics } from '../../common/messaging/methods/cognify-managed.ts';
import type { DatasetStatistics, DatasetStatisticsRequest } from '../../common/messaging/methods/ingest-managed.ts';
import { datasetRef } from '../../common/repositories/datasets.ts';
import type { LedgerEntry } from '../../common/repositories/ledger.ts';
import type { IngestDependencies } from './dependencies.ts';

type Dependencies = Pick<IngestDependencies, 'datasets' | 'items' | 'ledger' | 'messenger' | 'clock'>;

const PAGE = 1000;

/** What a dataset has, and how far behind it is. Reads every item's record: for somebody who asks once a minute. */
export async function datasetStatistics(
  deps: Dependencies,
  { tenantId, datasetId }: DatasetStatisticsRequest,
  { requestId, signal }: CallContext,
): Promise<DatasetStatistics> {
  const stored = await deps.datasets.get({ tenant: tenantId }, datasetId);
  if (stored === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  const dataset = datasetRef(stored);
  const context = { requestId, ...(signal === undefined ? {} : { signal }) };
  const [entries, { failedItems, completedAt, ...built }] = await Promise.all([
    deps.ledger.allEntries(scopeOf(dataset)),
    deps.messenger.call(builtStatistics, { dataset }, context),
  ]);
  const failures = new Set(failedItems);
  const counts = { items: 0, sizeBytes: 0, pending: 0, failed: 0 };
  let oldest: string | null = null;
  for await (const item of itemsOf(deps, dataset)) {
    counts.items += 1;
    counts.sizeBytes += item.sizeBytes;
    if (isBuilt(item, entries.get(item.id))) continue;
    if (failures.has(item.id)) counts.failed += 1;
    else {
      counts.pending += 1;
      const since = item.updatedAt ?? item.createdAt;
      if (oldest === null || Date.parse(since) < Date.parse(oldest)) oldest = since;
    }
  }
  const committed = [...entries.values()].filter(({ generation, erased }) => generation > 0 && !erased);
  return {
    ...{ ...counts, ...built },
    chunks: committed.reduce((sum, entry) => sum + Number(entry.counts?.['chunks'] ?? 0), 0),
    lastCognifiedAt: completedAt ?? lastCommit(committed),
    lagSeconds: oldest === null ? 0 : Math.max(0, (deps.clock.now().getTime() - Date.parse(oldest)) / 1000),
  };
}

function isBuilt(item: DataItem, entry: LedgerEntry | undefined): boolean {
  return entry !== undefined && entry.generation > 0 && entry.contentHash === contentVersion(item);
}

/** While another run goes on, the last item that became visible. */
function lastCommit(committed: readonly LedgerEntry[]): string | null {
  const times = committed.flatMap(({ committedAt }) => committedAt ?? []).sort();
  return times.at(-1) ?? null;
}

async function* itemsOf({ items }: Dependencies, dataset: DatasetRef): AsyncGenerator<DataItem> {
  const scope = scopeOf(dataset);
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof items.oldestFirst>> = await items.oldestFirst(scope, { after, limit: PAGE });
    yield* page.items;
    after = page.next;
  } while (after !== null);
}
