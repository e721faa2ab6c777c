import type { DataItem } from '../../common/domain/data-item.ts';
import type { RunState } from '../../common/domain/run.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { failedBuild } from '../../common/records/cognify/ledger.ts';
import type { IngestDependencies } from '../dependencies.ts';

const PAGE = 1000;

/**
 * Has items built again that could not be built, also those that were set aside: all of the dataset, or those named. Answers
 * the run that goes on in the background, or null when none of them had failed. `DataNotFoundError` for an unknown item.
 */
export async function retryItems(
  { items, ledger, messenger, logger }: IngestDependencies,
  request: {
    readonly dataset: DatasetRef;
    readonly ids: readonly DataItemId[] | null;
    readonly principal: Principal;
  },
  context: CallContext,
): Promise<{ readonly retried: readonly DataItemId[]; readonly run: RunState | null }> {
  const { dataset, ids, principal } = request;
  const scope = scopeOf(dataset);
  const failed: DataItemId[] = [];
  const pages = ids === null ? pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE })) : [named(ids)];
  for await (const page of pages) {
    const entries = await ledger.entries(
      scope,
      page.map(({ id }) => id),
    );
    const isSeen = ({ id }: DataItem) => !scope.withheld?.has(id);
    const inVain = page.filter((item) => isSeen(item) && failedBuild(entries.get(item.id), item) !== null);
    failed.push(...inVain.map(({ id }) => id));
  }
  if (failed.length === 0) return { retried: [], run: null };
  await ledger.forgive(scope, failed);
  const { run } = await messenger.call(
    'cognify.StartRun',
    { dataset, options: {}, background: true },
    { ...context, principal },
  );
  logger.info('items.retried', { datasetId: dataset.id, items: failed.length, runId: run.id, userId: principal.id });
  return { retried: failed, run };

  async function named(wanted: readonly DataItemId[]) {
    const found = await items.getMany(scope, wanted);
    const known = new Set(found.map(({ id }) => id).filter((id) => !scope.withheld?.has(id)));
    const unknown = wanted.find((id) => !known.has(id));
    if (unknown === undefined) return found;
    throw engramError('DataNotFoundError', `Data (${unknown}) not found in dataset (${dataset.id}).`);
  }
}
