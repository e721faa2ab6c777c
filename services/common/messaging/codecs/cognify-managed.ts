import * as wire from '../../contracts/engram/cognify/v1/managed_pb.ts';
import { enumMapping, type MethodCodec, messageCodec } from '../codec.ts';
import type * as methods from '../methods/cognify-managed.ts';
import { fromJsonText, idOf, maybe, toJsonText } from './shared.ts';

export const SetDatasetConfiguration: MethodCodec<
  methods.SetDatasetConfigurationRequest,
  methods.DatasetConfigurationHashes
> = {
  request: messageCodec(
    wire.SetDatasetConfigurationRequestSchema,
    ({ graphModel, ...rest }) => ({
      ...rest,
      graphModelJson: graphModel === undefined ? undefined : toJsonText(graphModel),
    }),
    ({ tenantId, datasetId, crUid, graphModelJson, prompt, chunking }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid },
      ...(graphModelJson === undefined ? {} : { graphModel: fromJsonText(graphModelJson) }),
      ...maybe('prompt', prompt),
      ...(chunking === undefined
        ? {}
        : { chunking: { strategy: chunking.strategy, ...maybe('maxTokens', chunking.maxTokens) } }),
    }),
  ),
  response: messageCodec(
    wire.SetDatasetConfigurationResponseSchema,
    ({ graphModelHash, promptHash, chunkingHash, drifted }) => ({
      graphModelHash: graphModelHash ?? undefined,
      promptHash: promptHash ?? undefined,
      chunkingHash: chunkingHash ?? undefined,
      drifted,
    }),
    ({ graphModelHash, promptHash, chunkingHash, drifted }) => ({
      graphModelHash: graphModelHash ?? null,
      promptHash: promptHash ?? null,
      chunkingHash: chunkingHash ?? null,
      drifted,
    }),
  ),
};

const modelKind = enumMapping<methods.ProbeModelRequest['kind'], wire.ModelKind>({
  language: wire.ModelKind.LANGUAGE,
  embedding: wire.ModelKind.EMBEDDING,
});

const probeOutcome = enumMapping<methods.ProbeModelResponse['outcome'], wire.ProbeOutcome>({
  accepted: wire.ProbeOutcome.ACCEPTED,
  rejected: wire.ProbeOutcome.REJECTED,
  invalid: wire.ProbeOutcome.INVALID,
  unreachable: wire.ProbeOutcome.UNREACHABLE,
});

export const ProbeModel: MethodCodec<methods.ProbeModelRequest, methods.ProbeModelResponse> = {
  request: messageCodec(
    wire.ProbeModelRequestSchema,
    ({ kind, ...rest }) => ({ ...rest, kind: modelKind.toWire(kind) }),
    ({ kind, provider, model, endpoint, apiKey, dimensions }) => ({
      ...{ kind: modelKind.fromWire(kind), provider, model },
      ...maybe('endpoint', endpoint),
      ...maybe('apiKey', apiKey),
      ...maybe('dimensions', dimensions),
    }),
  ),
  response: messageCodec(
    wire.ProbeModelResponseSchema,
    ({ outcome, detail }) => ({ outcome: probeOutcome.toWire(outcome), detail }),
    ({ outcome, detail }) => ({ outcome: probeOutcome.fromWire(outcome), detail }),
  ),
};
