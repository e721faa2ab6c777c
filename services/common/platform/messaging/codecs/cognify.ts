import type { MessageInitShape } from '@bufbuild/protobuf';
import * as wire from '../../../../../proto/gen/engram/cognify/v1/cognify_pb.ts';
import type { RunOutcome } from '../../../domain/run.ts';
import { dataItemId } from '../../../kernel/ids.ts';
import type { Provenance } from '../../../storage/ports/index-entry.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/cognify.ts';
import { fromRun, runStatus, toRun } from './runs.ts';
import { fromDataset, fromIdList, fromJsonText, idOf, maybe, toDataset, toIdList, toJsonText } from './shared.ts';

export const StartRun: MethodCodec<methods.StartRunRequest, methods.StartRunResponse> = {
  request: messageCodec(
    wire.StartRunRequestSchema,
    ({ dataset, options, background, dueAt }) => ({
      ...{ dataset: toDataset(dataset), options: toOptions(options), background, ...maybe('dueAt', dueAt) },
    }),
    ({ dataset, options, background, dueAt }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      options: options === undefined ? {} : fromOptions(options),
      background,
      ...maybe('dueAt', dueAt),
    }),
  ),
  response: messageCodec(
    wire.StartRunResponseSchema,
    ({ run }) => ({ run: toRun(run) }),
    ({ run }) => ({ run: fromRun(present(run, 'run')) }),
  ),
};

export const RecordRun: MethodCodec<methods.RecordRunRequest, Record<string, never>> = {
  request: messageCodec(
    wire.RecordRunRequestSchema,
    ({ dataset, pipeline, runId, status, items, error, outcome, background, session, completedBefore, jobId }) => ({
      ...{ dataset: toDataset(dataset), pipeline, runId, status: runStatus.toWire(status) },
      ...{ items: [...(items ?? [])], error, outcome, background, session, jobId },
      completedBefore: [...(completedBefore ?? [])],
    }),
    ({ dataset, pipeline, runId, status, items, error, outcome, background, session, completedBefore, jobId }) => ({
      ...{ dataset: fromDataset(present(dataset, 'dataset')), pipeline, runId, status: runStatus.fromWire(status) },
      items,
      ...maybe('background', background),
      ...maybe('session', session),
      ...maybe('jobId', jobId),
      ...maybe('completedBefore', completedBefore.length === 0 ? undefined : completedBefore.map(completedRun)),
      ...maybe('outcome', outcome as RunOutcome | undefined),
      ...(error === undefined ? {} : { error: { name: error.name, message: error.message } }),
    }),
  ),
  response: messageCodec(
    wire.RecordRunResponseSchema,
    () => ({}),
    () => ({}),
  ),
};

function completedRun({ pipeline, runId }: wire.CompletedRun): methods.CompletedRun {
  return { pipeline, runId };
}

export const GetRun: MethodCodec<methods.GetRunRequest, methods.GetRunResponse> = {
  request: messageCodec(
    wire.GetRunRequestSchema,
    ({ runId }) => ({ runId }),
    ({ runId }) => ({ runId }),
  ),
  response: messageCodec(
    wire.GetRunResponseSchema,
    ({ run, tenant }) => ({ run: run === null ? undefined : toRun(run), tenant: tenant ?? undefined }),
    ({ run, tenant }) => ({ run: run === undefined ? null : fromRun(run), tenant: tenant ?? null }),
  ),
};

export const RunStatuses: MethodCodec<methods.RunStatusesRequest, methods.RunStatusesResponse> = {
  request: messageCodec(
    wire.RunStatusesRequestSchema,
    ({ datasets, pipelines }) => ({ datasets: datasets.map(toDataset), pipelines: [...pipelines] }),
    ({ datasets, pipelines }) => ({ datasets: datasets.map(fromDataset), pipelines }),
  ),
  response: messageCodec(
    wire.RunStatusesResponseSchema,
    ({ runs }) => ({ runs: runs.map(toRun) }),
    ({ runs }) => ({ runs: runs.map(fromRun) }),
  ),
};

export const ApplyGraphPatch: MethodCodec<methods.ApplyGraphPatchRequest, methods.ApplyGraphPatchResponse> = {
  request: messageCodec(
    wire.ApplyGraphPatchRequestSchema,
    ({ dataset, leaseToken, items, gone }) => ({
      dataset: toDataset(dataset),
      leaseToken,
      items: items.map(({ triplets, item, generation }) => ({
        origin: { item, generation },
        triplets: triplets.map(({ ordinal, payload, nodeSets }) => ({ ...payload, ordinal, nodeSets: [...nodeSets] })),
      })),
      gone: gone.map(({ item, generation }) => ({ item, generation })),
    }),
    ({ dataset, leaseToken, items, gone }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      leaseToken,
      items: items.map(({ origin, triplets }) => ({
        ...fromItemGeneration(present(origin, 'origin')),
        triplets: triplets.map(fromTriplet),
      })),
      gone: gone.map(fromItemGeneration),
    }),
  ),
  response: messageCodec(
    wire.ApplyGraphPatchResponseSchema,
    ({ lostItems }) => ({ lostItems: [...lostItems] }),
    ({ lostItems }) => ({ lostItems: lostItems.map(dataItemId) }),
  ),
};

export const Erase: MethodCodec<methods.EraseBuiltRequest, methods.EraseBuiltResponse> = {
  request: messageCodec(
    wire.EraseRequestSchema,
    ({ dataset, items, memoryOnly }) => ({ dataset: toDataset(dataset), items: toIdList(items), memoryOnly }),
    ({ dataset, items, memoryOnly }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      ...fromIdList('items', items),
      memoryOnly,
    }),
  ),
  response: messageCodec(
    wire.EraseResponseSchema,
    ({ removed, residue, itemsReset }) => ({ removedJson: toJsonText(removed), residue, itemsReset }),
    ({ removedJson, residue, itemsReset }) => ({ removed: fromJsonText(removedJson), residue, itemsReset }),
  ),
};

function toOptions(options: methods.CognifyOptions): MessageInitShape<typeof wire.CognifyOptionsSchema> {
  const { graphModel, customPrompt, chunkSize, chunksPerBatch, dataPerBatch, ontologyKeys, likeItem } = options;
  return {
    graphModelJson: graphModel ? toJsonText(graphModel) : undefined,
    customPrompt,
    chunkSize: chunkSize ?? undefined,
    chunksPerBatch: chunksPerBatch ?? undefined,
    dataPerBatch,
    ontologyKeys: [...(ontologyKeys ?? [])],
    likeItem,
  };
}

function fromOptions(options: wire.CognifyOptions): methods.CognifyOptions {
  const { graphModelJson, customPrompt, chunkSize, chunksPerBatch, dataPerBatch, ontologyKeys, likeItem } = options;
  return {
    ...(graphModelJson === undefined ? {} : { graphModel: fromJsonText(graphModelJson) }),
    ...maybe('customPrompt', customPrompt),
    ...maybe('chunkSize', chunkSize),
    ...maybe('chunksPerBatch', chunksPerBatch),
    ...maybe('dataPerBatch', dataPerBatch),
    ...(ontologyKeys.length === 0 ? {} : { ontologyKeys }),
    ...(likeItem === undefined ? {} : { likeItem: idOf(likeItem) }),
  };
}

function fromItemGeneration({ item, generation }: wire.ItemGeneration): Provenance {
  return { item: dataItemId(item), generation };
}

function fromTriplet({ ordinal, nodeSets, ...edge }: wire.Triplet): methods.PatchedTriplet {
  const { source, target, relation, text, chunkId, statement } = edge;
  return { ordinal, payload: { source, target, relation, text, chunkId, statement }, nodeSets };
}
