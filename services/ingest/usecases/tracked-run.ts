import type { DatasetRef } from '../../common/domain/dataset.ts';
import { isEngramError } from '../../common/domain/errors.ts';
import type { Principal } from '../../common/domain/principal.ts';
import type { CallContext, Messenger } from '../../common/messaging/messenger.ts';
import { recordRun } from '../../common/messaging/methods/cognify.ts';

/** Records `work` as a run of the pipeline: started, then completed or errored, with the items it came to. */
export async function trackedRun<Result>(
  messenger: Messenger,
  run: {
    readonly id: string;
    readonly pipeline: string;
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly context: CallContext;
  },
  work: () => Promise<{ readonly result: Result; readonly items: readonly string[] }>,
): Promise<Result> {
  const { id: runId, pipeline, principal, dataset, context } = run;
  const record = { principal, dataset, pipeline, runId };
  // The work does not wait for the record of its start, but its end must.
  const started = messenger.call(recordRun, { ...record, status: 'DATASET_PROCESSING_STARTED' }, context);
  const [outcome] = await Promise.allSettled([work(), started]);
  if (outcome.status === 'fulfilled') {
    const { result, items } = outcome.value;
    await started;
    await messenger.call(recordRun, { ...record, status: 'DATASET_PROCESSING_COMPLETED', items }, context);
    return result;
  }
  const error: unknown = outcome.reason;
  const known = isEngramError(error)
    ? { name: error.wireName, message: error.message }
    : { name: 'CogneeSystemError', message: 'internal error' };
  await messenger.call(recordRun, { ...record, status: 'DATASET_PROCESSING_ERRORED', error: known }, context);
  throw error;
}
