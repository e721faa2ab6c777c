import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';

/**
 * Work that is over sooner is recorded once, with its end: its state could not have been requested meanwhile, and a record is
 * a commit.
 */
const SHORT_RUN_MS = 200;

/** Records `work` as a run of the pipeline: started, then completed or errored, with the items it came to. */
export async function trackedRun<Result>(
  messenger: Messenger,
  run: {
    readonly id: string;
    readonly pipeline: string;
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly context: CallContext;
    /** False: the dataset is not made yet, and keeps no runs. Absent: it is there. */
    readonly isThere?: (() => boolean) | undefined;
  },
  work: () => Promise<{ readonly result: Result; readonly items: readonly string[] }>,
): Promise<Result> {
  const { id: runId, pipeline, principal, dataset, isThere = () => true } = run;
  const context = { ...run.context, principal };
  const record = { dataset, pipeline, runId };
  let started: Promise<unknown> = Promise.resolve();
  const timer = setTimeout(() => {
    if (!isThere()) return;
    const call = messenger.call('cognify.RecordRun', { ...record, status: 'DATASET_PROCESSING_STARTED' }, context);
    started = call.catch(() => null); // the record of the end makes up for it
  }, SHORT_RUN_MS);
  const [outcome] = await Promise.allSettled([work()]);
  clearTimeout(timer);
  await started;
  if (outcome.status === 'fulfilled') {
    const { result, items } = outcome.value;
    await messenger.call('cognify.RecordRun', { ...record, status: 'DATASET_PROCESSING_COMPLETED', items }, context);
    return result;
  }
  const error: unknown = outcome.reason;
  if (!isThere()) throw error;
  const known = isEngramError(error)
    ? { name: error.wireName, message: error.message }
    : { name: 'CogneeSystemError', message: 'internal error' };
  await messenger.call('cognify.RecordRun', { ...record, status: 'DATASET_PROCESSING_ERRORED', error: known }, context);
  throw error;
}
