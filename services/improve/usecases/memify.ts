import type { RunState } from '../../common/domain/run.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { recordRun } from '../../common/platform/messaging/methods/cognify.ts';
import { PIPELINE } from '../bridge/record-pipeline.ts';
import type { ImproveParts, ImproveRequest } from '../engine/improve-passes.ts';
import { type ImproveResult, lockHeld } from '../engine/improve-result.ts';
import { type CustomEnrichment, defaultOptions } from '../stage.ts';
import { improveDataset } from './improve-dataset.ts';
import { startImprove } from './start-improve.ts';

export interface MemifyRequest extends Pick<ImproveRequest, 'dataset' | 'principal' | 'context'> {
  readonly tasks: CustomEnrichment;
  readonly nodeNames: readonly string[];
  readonly background: boolean;
}

/** `failure`: what the tasks ended with, as the stage tells it. Null: they were not to be run. */
export type MemifyOutcome = { readonly run: RunState } | { readonly failure: string } | null;

/**
 * Named tasks alone: an improve of the dataset without sessions, whose enrichment they are. So there is one at a time, and
 * one in the background is as durable as any. `ConflictError` while another has the dataset.
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
    throw engramError('ConflictError', 'Another improve of this dataset is under way.', { retryable: true });
  }
  if (!background) {
    if (stage?.status === 'errored') return { failure: stage.error ?? '' };
    return stage?.run ? { run: stage.run } : null;
  }
  const started = { dataset, pipeline: PIPELINE, runId, status: 'DATASET_PROCESSING_STARTED', background } as const;
  await parts.messenger
    .call(recordRun, started, { ...context, principal })
    .catch((error: unknown) => parts.logger.warn('improve.unrecorded', { runId, error }));
  return { run: startedRun(request, runId, startedAt) };
}

function enrichmentOf({ stages }: ImproveResult) {
  return stages.find(({ stage }) => stage === 'triplet_enrichment');
}

function startedRun({ dataset }: MemifyRequest, runId: string, startedAt: string): RunState {
  return {
    ...{ id: asId(runId), pipeline: PIPELINE, dataset: dataset.id, datasetName: dataset.name },
    ...{ status: 'DATASET_PROCESSING_STARTED', progress: null, items: [], counts: null },
    ...{ errorClass: null, errorMessage: null, errorStatus: null, startedAt, endedAt: null },
  };
}
