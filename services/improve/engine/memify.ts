import type { RunState } from '../../common/domain/run.ts';
import { NO_RESULT } from '../../common/domain/run.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { type CustomEnrichment, defaultOptions } from '../model.ts';
import { PIPELINE } from '../stages/record-pipeline.ts';
import type { ImproveParts, ImproveRequest } from './improve-passes.ts';
import { type ImproveResult, lockHeld } from './improve-result.ts';
import { improveDataset, startImprove } from './start-improve.ts';

export interface MemifyRequest extends Pick<ImproveRequest, 'dataset' | 'principal' | 'context'> {
  readonly tasks: CustomEnrichment;
  readonly nodeNames: readonly string[];
  readonly background: boolean;
}

/** `failure`: the error of the stage. Null: the stage is disabled. */
export type MemifyOutcome = { readonly run: RunState } | { readonly failure: string } | null;

/**
 * Runs named tasks only, as an improve without sessions: so there is one per dataset at a time, and one in the background is
 * durable. `ConflictError` while another improve has the dataset.
 */
export async function memify(parts: ImproveParts, request: MemifyRequest): Promise<MemifyOutcome> {
  const { dataset, principal, context, tasks, nodeNames, background } = request;
  const runId = parts.ids.uuid();
  const options = { ...defaultOptions(parts.settings.feedbackAlpha), nodeNames, custom: { ...tasks, runId } };
  const improve: ImproveRequest = { dataset, principal, context, sessionIds: [], options };
  const startedAt = parts.clock.now().toISOString();
  const start = background ? startImprove : improveDataset;
  const result = await start(parts, improve, async (_, asked) =>
    lockHeld(asked, { background, rerunRequested: false }),
  );
  const stage = enrichmentOf(result);
  if (stage?.reason === 'lock_held') {
    throw engramError('ConflictError', 'Another improve of this dataset is running.', { retryable: true });
  }
  if (!background) {
    if (stage?.status === 'errored') return { failure: stage.error ?? '' };
    return stage?.run ? { run: stage.run } : null;
  }
  const started = { dataset, pipeline: PIPELINE, runId, status: 'DATASET_PROCESSING_STARTED', background } as const;
  await parts.messenger
    .call('cognify.RecordRun', started, { ...context, principal })
    .catch((error: unknown) => parts.logger.warn('improve.record.failed', { runId, error }));
  return { run: startedRun(request, runId, startedAt) };
}

function enrichmentOf({ stages }: ImproveResult) {
  return stages.find(({ stage }) => stage === 'triplet_enrichment');
}

function startedRun({ dataset }: MemifyRequest, runId: string, startedAt: string): RunState {
  return {
    id: asId(runId),
    pipeline: PIPELINE,
    dataset: dataset.id,
    datasetName: dataset.name,
    status: 'DATASET_PROCESSING_STARTED',
    ...NO_RESULT,
    startedAt,
    endedAt: null,
  };
}
