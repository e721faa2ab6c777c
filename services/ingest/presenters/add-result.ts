import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { AddOutcome } from '../items/add-data.ts';
import { refusedField } from '../items/refused-input.ts';

const ITEM_STATUS = { completed: 'PipelineRunCompleted', already_completed: 'PipelineRunAlreadyCompleted' } as const;

/** PipelineRunInfo of an add (ingest.md §0.6, §1); `outcome` is null while it goes on in the background. */
export function presentAddResult(
  runId: string,
  dataset: DatasetRef,
  outcome: AddOutcome | null,
): Readonly<Record<string, unknown>> {
  const info = (status: string, payload: unknown, items: unknown) => ({
    status,
    pipeline_run_id: runId,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    payload,
    data_ingestion_info: items,
  });
  if (outcome === null) return info('PipelineRunStarted', [], null);
  const items = outcome.added.map(({ item, status }) => ({
    run_info: info(ITEM_STATUS[status], null, null),
    data_id: item.id,
  }));
  return { ...info('PipelineRunCompleted', null, items), ...refusedField(outcome.refused) };
}
