import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type RunStateSchema,
  type RunItem as WireItem,
  RunItemStatus as WireItemStatus,
  type RunState as WireState,
  RunStatus as WireStatus,
} from '../../../../../proto/gen/engram/common/v1/run_pb.ts';
import type { RunItem, RunState, RunStatus } from '../../../domain/run.ts';
import type { DataItemId } from '../../../kernel/brand.ts';
import { enumMapping } from '../codec.ts';
import { fromJsonText, idOf, toJsonText } from './shared.ts';

export const runStatus = enumMapping<RunStatus, WireStatus>({
  DATASET_PROCESSING_STARTED: WireStatus.STARTED,
  DATASET_PROCESSING_COMPLETED: WireStatus.COMPLETED,
  DATASET_PROCESSING_ERRORED: WireStatus.ERRORED,
});

const itemStatus = enumMapping<RunItem['status'], WireItemStatus>({
  completed: WireItemStatus.COMPLETED,
  already_completed: WireItemStatus.ALREADY_COMPLETED,
  errored: WireItemStatus.ERRORED,
});

export function toRun(run: RunState): MessageInitShape<typeof RunStateSchema> {
  const { id, pipeline, dataset, datasetName, status, progress, items, counts, startedAt } = run;
  return {
    ...{ id, pipeline, datasetId: dataset, datasetName, startedAt },
    status: runStatus.toWire(status),
    progress: progress === null ? undefined : { ...progress, currentStage: progress.currentStage ?? undefined },
    items: items.map(({ item, status: ended, failure }) => ({
      itemId: item,
      status: itemStatus.toWire(ended),
      failure,
    })),
    countsJson: counts === null ? undefined : toJsonText(counts),
    errorClass: run.errorClass ?? undefined,
    errorMessage: run.errorMessage ?? undefined,
    errorStatus: run.errorStatus ?? undefined,
    endedAt: run.endedAt ?? undefined,
  };
}

function fromItem({ itemId, status, failure }: WireItem): RunItem {
  const item = { item: idOf<DataItemId>(itemId), status: itemStatus.fromWire(status) };
  if (failure === undefined) return item;
  const { name, errorClass, message, isSetAside } = failure;
  return { ...item, failure: { name, errorClass, message, isSetAside } };
}

export function fromRun(run: WireState): RunState {
  const { id, pipeline, datasetId, datasetName, status, progress, items, countsJson, startedAt } = run;
  return {
    ...{ id: idOf(id), pipeline, dataset: idOf(datasetId), datasetName, startedAt },
    status: runStatus.fromWire(status),
    progress:
      progress === undefined
        ? null
        : {
            completedItems: progress.completedItems,
            totalItems: progress.totalItems,
            currentStage: progress.currentStage ?? null,
          },
    items: items.map(fromItem),
    counts: countsJson === undefined ? null : fromJsonText(countsJson),
    errorClass: run.errorClass ?? null,
    errorMessage: run.errorMessage ?? null,
    errorStatus: run.errorStatus ?? null,
    endedAt: run.endedAt ?? null,
  };
}
