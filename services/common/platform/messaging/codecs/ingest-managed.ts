import type { MessageInitShape } from '@bufbuild/protobuf';
import * as wire from '../../../../../proto/gen/engram/ingest/v1/managed_pb.ts';
import type { TenantId } from '../../../kernel/brand.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/ingest-managed.ts';
import { fromJsonText, idOf, maybe, toJsonText } from './shared.ts';
import { fromPlace, toPlace } from './snapshots.ts';

export const EraseDataset: MethodCodec<methods.EraseDatasetRequest, methods.ErasureResponse> = {
  request: messageCodec(
    wire.EraseDatasetRequestSchema,
    ({ finalSnapshot: last, ...request }) => ({
      ...request,
      ...(last === undefined ? {} : { finalSnapshot: { name: last.name, place: toPlace(last.place) } }),
    }),
    ({ tenantId, datasetId, crUid, keepSnapshots, withoutSnapshots, finalSnapshot: last }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid },
      ...(keepSnapshots ? { keepSnapshots } : {}),
      ...(withoutSnapshots ? { withoutSnapshots } : {}),
      ...(last === undefined ? {} : { finalSnapshot: { name: last.name, place: fromPlace(last.place) } }),
    }),
  ),
  response: messageCodec(
    wire.EraseDatasetResponseSchema,
    ({ progress }) => ({ progress: toProgress(progress) }),
    ({ progress }) => ({ progress: fromProgress(present(progress, 'progress')) }),
  ),
};

export const EraseTenant: MethodCodec<methods.EraseTenantRequest, methods.ErasureResponse> = {
  request: messageCodec(
    wire.EraseTenantRequestSchema,
    ({ finalSnapshots: last, ...request }) => ({
      ...request,
      ...(last === undefined ? {} : { finalSnapshots: { place: toPlace(last.place) } }),
    }),
    ({ tenantId, crUid, keepSnapshots, withoutSnapshots, finalSnapshots: last }) => ({
      ...{ tenantId: idOf(tenantId), crUid },
      ...(keepSnapshots ? { keepSnapshots } : {}),
      ...(withoutSnapshots ? { withoutSnapshots } : {}),
      ...(last === undefined ? {} : { finalSnapshots: { place: fromPlace(last.place) } }),
    }),
  ),
  response: messageCodec(
    wire.EraseTenantResponseSchema,
    ({ progress }) => ({ progress: toProgress(progress) }),
    ({ progress }) => ({ progress: fromProgress(present(progress, 'progress')) }),
  ),
};

function toProgress(progress: methods.ErasureProgress): MessageInitShape<typeof wire.ErasureProgressSchema> {
  const { erased, step, removed, residue, receipt, failure } = progress;
  return {
    ...{ erased, step, removedJson: toJsonText(removed), residue: BigInt(residue) },
    ...{ receiptJson: receipt ?? undefined, failure: failure ?? undefined },
  };
}

function fromProgress(progress: wire.ErasureProgress): methods.ErasureProgress {
  const { erased, step, removedJson, residue, receiptJson, failure } = progress;
  return {
    ...{ erased, step, removed: fromJsonText(removedJson), residue: Number(residue), receipt: receiptJson ?? null },
    failure: failure === undefined ? null : { name: failure.name, message: failure.message },
  };
}

export const CheckIsolation: MethodCodec<methods.CheckIsolationRequest, methods.CheckIsolationResponse> = {
  request: messageCodec(
    wire.CheckIsolationRequestSchema,
    ({ otherTenantIds, ...rest }) => ({ ...rest, otherTenantIds: [...otherTenantIds] }),
    ({ tenantId, crUid, otherTenantIds }) => ({
      ...{ tenantId: idOf(tenantId), crUid, otherTenantIds: otherTenantIds.map<TenantId>(idOf) },
    }),
  ),
  response: messageCodec(
    wire.CheckIsolationResponseSchema,
    ({ unproven, comparedTenantIds, leaks }) => ({
      ...{ unproven: unproven ?? undefined, comparedTenantIds: [...comparedTenantIds], leaks: [...leaks] },
    }),
    ({ unproven, comparedTenantIds, leaks }) => ({
      unproven: unproven ?? null,
      comparedTenantIds: comparedTenantIds.map<TenantId>(idOf),
      leaks: leaks.map(({ tenantId, seenByTenantId, way }) => ({
        ...{ tenantId: idOf(tenantId), seenByTenantId: idOf(seenByTenantId), way },
      })),
    }),
  ),
};

export const RemoveCanary: MethodCodec<methods.RemoveCanaryRequest, methods.RemoveCanaryResponse> = {
  request: messageCodec(
    wire.RemoveCanaryRequestSchema,
    (request) => request,
    ({ tenantId, crUid }) => ({ tenantId: idOf(tenantId), crUid }),
  ),
  response: messageCodec(
    wire.RemoveCanaryResponseSchema,
    ({ removed }) => ({ removed }),
    ({ removed }) => ({ removed }),
  ),
};

const toMs = (ms: number | undefined): bigint | undefined => (ms === undefined ? undefined : BigInt(ms));
const fromMs = (ms: bigint | undefined): number | undefined => (ms === undefined ? undefined : Number(ms));

export const SetRetention: MethodCodec<methods.SetRetentionRequest, Record<never, never>> = {
  request: messageCodec(
    wire.SetRetentionRequestSchema,
    ({ sessionsMs, eventsMs, itemsMs, ...rest }) => ({
      ...rest,
      ...{ sessionsMs: toMs(sessionsMs), eventsMs: toMs(eventsMs), itemsMs: toMs(itemsMs) },
    }),
    ({ tenantId, datasetId, crUid, sessionsMs, eventsMs, itemsMs }) => ({
      ...{ tenantId: idOf(tenantId), crUid },
      ...(datasetId === undefined ? {} : { datasetId: idOf(datasetId) }),
      ...maybe('sessionsMs', fromMs(sessionsMs)),
      ...maybe('eventsMs', fromMs(eventsMs)),
      ...maybe('itemsMs', fromMs(itemsMs)),
    }),
  ),
  response: messageCodec(
    wire.SetRetentionResponseSchema,
    () => ({}),
    () => ({}),
  ),
};

export const DatasetStatistics: MethodCodec<methods.DatasetStatisticsRequest, methods.DatasetStatistics> = {
  request: messageCodec(
    wire.DatasetStatisticsRequestSchema,
    (request) => request,
    ({ tenantId, datasetId }) => ({ tenantId: idOf(tenantId), datasetId: idOf(datasetId) }),
  ),
  response: messageCodec(
    wire.DatasetStatisticsResponseSchema,
    ({ items, chunks, nodes, edges, pending, failed, ...rest }) => ({
      ...{ items: BigInt(items), chunks: BigInt(chunks), nodes: BigInt(nodes) },
      ...{ edges: BigInt(edges), pending: BigInt(pending), failed: BigInt(failed), lagSeconds: rest.lagSeconds },
      lastCognifiedAt: rest.lastCognifiedAt ?? undefined,
      writer: rest.writer === null ? undefined : { ...rest.writer, fencingToken: BigInt(rest.writer.fencingToken) },
      activeRun: rest.activeRun ?? undefined,
    }),
    ({ items, chunks, nodes, edges, pending, failed, lastCognifiedAt, lagSeconds, writer, activeRun }) => ({
      ...{ items: Number(items), chunks: Number(chunks), nodes: Number(nodes) },
      ...{ edges: Number(edges), pending: Number(pending), failed: Number(failed), lagSeconds },
      lastCognifiedAt: lastCognifiedAt ?? null,
      writer: writer === undefined ? null : { holder: writer.holder, fencingToken: Number(writer.fencingToken) },
      activeRun:
        activeRun === undefined
          ? null
          : { id: activeRun.id, pipeline: activeRun.pipeline, startedAt: activeRun.startedAt },
    }),
  ),
};
