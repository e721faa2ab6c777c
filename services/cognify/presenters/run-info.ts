import type { RunState } from '../../common/domain/run.ts';

/** PipelineRunInfo of the wire (ingest.md §0.6). */
export interface RunInfo {
  readonly status: string;
  readonly pipeline_run_id: string;
  readonly dataset_id: string;
  readonly dataset_name: string;
  readonly payload: unknown;
  readonly data_ingestion_info: readonly { readonly run_info: RunInfo; readonly data_id: string }[] | null;
}

export const RUN_STATUS = {
  DATASET_PROCESSING_STARTED: 'PipelineRunStarted',
  DATASET_PROCESSING_COMPLETED: 'PipelineRunCompleted',
  DATASET_PROCESSING_ERRORED: 'PipelineRunErrored',
} as const;

export function presentStartedRun(run: RunState): RunInfo {
  return { status: 'PipelineRunStarted', ...common(run), payload: [], data_ingestion_info: null };
}

export function presentEndedRun(run: RunState): RunInfo {
  const item = (status: string): RunInfo => ({ status, ...common(run), payload: null, data_ingestion_info: null });
  return {
    status: RUN_STATUS[run.status],
    ...common(run),
    payload: run.counts,
    data_ingestion_info: run.items
      .filter(({ status }) => status !== 'errored')
      .map((entry) => ({
        run_info: item(entry.status === 'completed' ? 'PipelineRunCompleted' : 'PipelineRunAlreadyCompleted'),
        data_id: entry.item,
      })),
  };
}

function common(run: RunState): Pick<RunInfo, 'pipeline_run_id' | 'dataset_id' | 'dataset_name'> {
  return { pipeline_run_id: run.id, dataset_id: run.dataset, dataset_name: run.datasetName };
}
