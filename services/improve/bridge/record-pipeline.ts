import type { RunId } from '../../common/domain/brand.ts';
import { isEngramError } from '../../common/domain/errors.ts';
import { asId } from '../../common/domain/ids.ts';
import type { RunState } from '../../common/domain/run.ts';
import { type RecordRunRequest, recordRun } from '../../common/messaging/methods/cognify.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/** The name of enrichments on the wire. */
export const PIPELINE = 'memify_pipeline';

/** Work of a stage that runs no cognify: it stands in the history of runs all the same. What it throws is recorded and thrown. */
export async function recordPipeline(
  { messenger, clock, ids }: Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'>,
  { dataset, context, signal }: Pick<ImprovePass, 'dataset' | 'context' | 'signal'>,
  work: () => Promise<void>,
  /** Of the run, when somebody was told of it already. */
  given?: string,
): Promise<RunState> {
  const id = asId<RunId>(given ?? ids.uuid());
  const startedAt = clock.now().toISOString();
  const record = (end: Pick<RecordRunRequest, 'status' | 'error'>) =>
    messenger.call(recordRun, { dataset, pipeline: PIPELINE, runId: id, ...end }, { ...context, signal });
  try {
    await work();
  } catch (error) {
    const name = isEngramError(error) ? error.wireName : 'CogneeSystemError';
    const message = isEngramError(error) ? error.message : 'internal error';
    await record({ status: 'DATASET_PROCESSING_ERRORED', error: { name, message } }).catch(() => null); // the stage tells
    throw error;
  }
  await record({ status: 'DATASET_PROCESSING_COMPLETED' });
  return {
    ...{ id, pipeline: PIPELINE, dataset: dataset.id, datasetName: dataset.name },
    ...{ status: 'DATASET_PROCESSING_COMPLETED', progress: null, items: [], counts: null },
    ...{ errorClass: null, errorMessage: null, errorStatus: null },
    ...{ startedAt, endedAt: clock.now().toISOString() },
  };
}
