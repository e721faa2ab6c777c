import type { DatasetRef } from '../../common/domain/dataset.ts';
import type { AddedItem } from '../usecases/add-data.ts';

const ITEM_STATUS = { completed: 'PipelineRunCompleted', already_completed: 'PipelineRunAlreadyCompleted' } as const;

/** PipelineRunInfo of an add (ingest.md §0.6, §1); `added` is null while it goes on in the background. */
export function presentAddResult(
  runId: string,
  dataset: DatasetRef,
  added: readonly AddedItem[] | null,
): Readonly<Record<string, unknown>> {
  const info = (status: string, payload: unknown, items: unknown) => ({
    status,
    pipeline_run_id: runId,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    payload,
    data_ingestion_info: items,
  });
  if (added === null) return info('PipelineRunStarted', [], null);
  const items = added.map(({ item, status }) => ({
    run_info: info(ITEM_STATUS[status], null, null),
    data_id: item.id,
  }));
  return info('PipelineRunCompleted', null, items);
}
