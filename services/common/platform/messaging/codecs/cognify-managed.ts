import * as wire from '../../../../../proto/gen/engram/cognify/v1/managed_pb.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import { enumMapping, type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/cognify-managed.ts';
import { fromDataset, fromJsonText, idOf, maybe, toDataset, toJsonText } from './shared.ts';

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
    ({ graphModelHash, promptHash, chunkingHash, drifted, unused }) => ({
      graphModelHash: graphModelHash ?? undefined,
      promptHash: promptHash ?? undefined,
      chunkingHash: chunkingHash ?? undefined,
      drifted,
      unused: unused ?? undefined,
    }),
    ({ graphModelHash, promptHash, chunkingHash, drifted, unused }) => ({
      graphModelHash: graphModelHash ?? null,
      promptHash: promptHash ?? null,
      chunkingHash: chunkingHash ?? null,
      drifted,
      unused: unused ?? null,
    }),
  ),
};

export const BuiltStatistics: MethodCodec<{ readonly dataset: DatasetRef }, methods.BuiltStatistics> = {
  request: messageCodec(
    wire.BuiltStatisticsRequestSchema,
    ({ dataset }) => ({ dataset: toDataset(dataset) }),
    ({ dataset }) => ({ dataset: fromDataset(present(dataset, 'dataset')) }),
  ),
  response: messageCodec(
    wire.BuiltStatisticsResponseSchema,
    ({ chunks, nodes, edges, failed, pendingSince, lastCognifiedAt, writer, activeRun }) => ({
      ...{ chunks: BigInt(chunks), nodes: BigInt(nodes), edges: BigInt(edges), failed: BigInt(failed) },
      ...{ pendingSince: pendingSince ?? undefined, lastCognifiedAt: lastCognifiedAt ?? undefined },
      writer: writer === null ? undefined : { ...writer, fencingToken: BigInt(writer.fencingToken) },
      activeRun: activeRun ?? undefined,
    }),
    ({ chunks, nodes, edges, failed, pendingSince, lastCognifiedAt, writer, activeRun }) => ({
      ...{ chunks: Number(chunks), nodes: Number(nodes), edges: Number(edges), failed: Number(failed) },
      ...{ pendingSince: pendingSince ?? null, lastCognifiedAt: lastCognifiedAt ?? null },
      writer: writer === undefined ? null : { holder: writer.holder, fencingToken: Number(writer.fencingToken) },
      activeRun:
        activeRun === undefined
          ? null
          : { id: activeRun.id, pipeline: activeRun.pipeline, startedAt: activeRun.startedAt },
    }),
  ),
};

const migrationPhase = enumMapping<NonNullable<methods.EmbeddingState['migration']>['phase'], wire.MigrationPhase>({
  copying: wire.MigrationPhase.COPYING,
  settling: wire.MigrationPhase.SETTLING,
});

export const MigrateEmbedding: MethodCodec<methods.MigrateEmbeddingRequest, methods.EmbeddingState> = {
  request: messageCodec(
    wire.MigrateEmbeddingRequestSchema,
    (request) => request,
    ({ tenantId, datasetId, crUid, embedding }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid },
      ...(embedding === undefined ? {} : { embedding: fromEmbedding(embedding) }),
    }),
  ),
  response: messageCodec(
    wire.MigrateEmbeddingResponseSchema,
    ({ embedding, migration, failure }) => ({
      embedding: embedding ?? undefined,
      migration: migration === null ? undefined : { ...migration, phase: migrationPhase.toWire(migration.phase) },
      failure: failure ?? undefined,
    }),
    ({ embedding, migration, failure }) => ({
      embedding: embedding === undefined ? null : fromEmbedding(embedding),
      migration:
        migration === undefined
          ? null
          : {
              from: fromEmbedding(present(migration.from, 'from')),
              to: fromEmbedding(present(migration.to, 'to')),
              ...{ done: migration.done, total: migration.total, startedAt: migration.startedAt },
              phase: migrationPhase.fromWire(migration.phase),
            },
      failure: failure === undefined ? null : { name: failure.name, message: failure.message },
    }),
  ),
};

function fromEmbedding({ model, dimensions }: wire.DatasetEmbedding): methods.DatasetEmbedding {
  return { model, dimensions };
}

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
