import type { RunState } from '../../common/domain/run.ts';
import { NO_RESULT } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../model.ts';

/** The name of enrichments on the wire. */
export const PIPELINE = 'memify_pipeline';

/**
 * Records the work of a stage that runs no cognify in the history of runs: at once, or with the next record when it changed
 * nothing. An error of the work is recorded and thrown.
 */
export async function recordPipeline(
  { messenger, clock, ids }: Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'>,
  { dataset, context, signal, idleRuns }: Pick<ImprovePass, 'dataset' | 'context' | 'signal' | 'idleRuns'>,
  work: () => Promise<'changed' | 'unchanged'>,
  /** Id of the run, when a client was already told it. */
  runId?: string,
): Promise<{ readonly run: RunState; readonly isUnchanged: boolean }> {
  const id = asId<RunId>(runId ?? ids.uuid());
  const startedAt = clock.now().toISOString();
  const record = (end: Pick<RequestOf<'cognify.RecordRun'>, 'status' | 'error'>) => {
    // The end of the improve reports them again, which changes nothing.
    const request = { dataset, pipeline: PIPELINE, runId: id, ...end, completedBefore: [...idleRuns] };
    return messenger.call('cognify.RecordRun', request, { ...context, signal });
  };
  let done: 'changed' | 'unchanged';
  try {
    done = await work();
  } catch (error) {
    const name = isEngramError(error) ? error.wireName : 'CogneeSystemError';
    const message = isEngramError(error) ? error.message : 'internal error';
    await record({ status: 'DATASET_PROCESSING_ERRORED', error: { name, message } }).catch(() => null); // the result of the stage has the error
    throw error;
  }
  const isUnchanged = done === 'unchanged';
  if (isUnchanged) idleRuns.push({ pipeline: PIPELINE, runId: id });
  else await record({ status: 'DATASET_PROCESSING_COMPLETED' });
  const run: RunState = {
    id,
    pipeline: PIPELINE,
    dataset: dataset.id,
    datasetName: dataset.name,
    status: 'DATASET_PROCESSING_COMPLETED',
    ...NO_RESULT,
    startedAt,
    endedAt: clock.now().toISOString(),
  };
  return { run, isUnchanged };
}
