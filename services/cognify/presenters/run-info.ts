import type { RunItem, RunState } from '../../common/domain/run.ts';
import { RUN_STATUS_NAMES } from '../../common/domain/run.ts';

/** `PipelineRunInfo` of the wire (ingest.md §0.6). */
interface RunInfo {
  readonly status: string;
  readonly pipeline_run_id: string;
  readonly dataset_id: string;
  readonly dataset_name: string;
  readonly payload: unknown;
  readonly data_ingestion_info: readonly { readonly run_info: RunInfo & ItemError; readonly data_id: string }[] | null;
}

interface ItemError {
  readonly error_class?: string | null;
  readonly error_message?: string | null;
  readonly data_name?: string | null;
  /** It is not tried again until a client requests it. */
  readonly is_set_aside?: boolean;
}

export function presentStartedRun(run: RunState): RunInfo {
  return { status: 'PipelineRunStarted', ...common(run), payload: [], data_ingestion_info: null };
}

/** Presents a run with its items, when the caller may read them. A failed item has its error message as payload. */
export function presentEndedRun(run: RunState, showsItems: boolean): RunInfo {
  return {
    status: RUN_STATUS_NAMES[run.status],
    ...common(run),
    payload: run.counts,
    data_ingestion_info: showsItems
      ? run.items.map((entry) => ({ run_info: itemInfo(run, entry), data_id: entry.item }))
      : null,
  };
}

const ITEM_STATUS = {
  completed: 'PipelineRunCompleted',
  already_completed: 'PipelineRunAlreadyCompleted',
  errored: 'PipelineRunErrored',
} as const;

function itemInfo(run: RunState, { status, failure }: RunItem): RunInfo & ItemError {
  const info = { status: ITEM_STATUS[status], ...common(run), payload: null, data_ingestion_info: null };
  if (status !== 'errored') return info;
  return {
    ...info,
    payload: failure?.message ?? null,
    error_class: failure?.errorClass ?? null,
    error_message: failure?.message ?? null,
    data_name: failure?.name ?? null,
    is_set_aside: failure?.isSetAside ?? false,
  };
}

function common(run: RunState): Pick<RunInfo, 'pipeline_run_id' | 'dataset_id' | 'dataset_name'> {
  return { pipeline_run_id: run.id, dataset_id: run.dataset, dataset_name: run.datasetName };
}
