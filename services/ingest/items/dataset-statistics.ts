import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Size of a dataset and how far its build is behind. The stores count: no items are read, whatever the size. */
export async function datasetStatistics(
  deps: IngestDependencies,
  { tenantId, datasetId }: RequestOf<'ingest.DatasetStatistics'>,
  { requestId, signal }: CallContext,
): Promise<AnswerOf<'ingest.DatasetStatistics'>> {
  const stored = await deps.datasets.get({ tenant: tenantId }, datasetId);
  if (stored === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  const dataset = datasetRef(stored);
  const scope = scopeOf(dataset);
  const context = { requestId, ...(signal === undefined ? {} : { signal }) };
  const [items, waiting, { pendingSince, failed, ...built }] = await Promise.all([
    deps.items.count(scope),
    deps.items.countWaiting(scope),
    deps.messenger.call('cognify.BuiltStatistics', { dataset }, context),
  ]);
  const pending = Math.max(0, waiting - failed);
  const lagMs = pending === 0 || pendingSince === null ? 0 : deps.clock.now().getTime() - Date.parse(pendingSince);
  return { items, pending, failed, ...built, lagSeconds: Math.max(0, lagMs / 1000) };
}
