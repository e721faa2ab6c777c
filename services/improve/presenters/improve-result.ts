import type { RunState } from '../../common/domain/run.ts';
import { RUN_STATUS_NAMES } from '../../common/domain/run.ts';
import { type ImproveResult, type StageResult, statusOf } from '../engine/improve-result.ts';

/** ImproveResult of the wire, its keys in the order of the contract (cognify-improve.md §3.2). */
export function presentImproveResult(result: ImproveResult): Readonly<Record<string, unknown>> {
  const { dataset, sessionIds, stages, background, finished, failure, rerunRequested, rerunPasses } = result;
  const failed = stages.concat(...rerunPasses).findLast(({ status }) => status === 'errored');
  return {
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    session_ids: sessionIds,
    stages: stages.map(presentStage),
    background,
    finished,
    error: failure === null ? null : (failed?.error ?? null),
    rerun_requested: rerunRequested,
    rerun_passes: rerunPasses.map((pass) => pass.map(presentStage)),
    memify_run: memifyRun(stages),
    status: statusOf(result),
  };
}

function presentStage({ stage, status, reason, error, counts, durationMs, run }: StageResult): object {
  return { stage, status, reason, error, counts, duration_ms: durationMs, run: run === null ? null : runInfo(run) };
}

/** Presents the run of the enrichment stage, which also runs custom tasks. */
function memifyRun(stages: readonly StageResult[]): object {
  const run = stages.find(({ stage }) => stage === 'triplet_enrichment')?.run ?? null;
  return run === null ? {} : { [run.dataset]: runInfo(run) };
}

/** Presents a run; the items of these pipelines have no data item id. */
export function runInfo(run: RunState): object {
  const described = {
    status: RUN_STATUS_NAMES[run.status],
    pipeline_run_id: run.id,
    dataset_id: run.dataset,
    dataset_name: run.datasetName,
    payload: null,
  };
  return { ...described, data_ingestion_info: [{ run_info: { ...described, data_ingestion_info: null } }] };
}

/** Presents a run in the background. */
export function startedRunInfo(run: RunState): object {
  return {
    status: RUN_STATUS_NAMES[run.status],
    pipeline_run_id: run.id,
    dataset_id: run.dataset,
    dataset_name: run.datasetName,
    payload: [],
    data_ingestion_info: null,
  };
}
