import type { MessageInitShape } from '@bufbuild/protobuf';
import * as auth from '../../../../../proto/gen/engram/auth/v1/snapshots_pb.ts';
import * as cognify from '../../../../../proto/gen/engram/cognify/v1/snapshots_pb.ts';
import type * as shared from '../../../../../proto/gen/engram/common/v1/snapshot_pb.ts';
import * as ingest from '../../../../../proto/gen/engram/ingest/v1/snapshots_pb.ts';
import { SNAPSHOT_PART_KINDS } from '../../../domain/snapshot.ts';
import type { SnapshotPlace } from '../../../storage/ports/snapshot-places.ts';
import { type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/snapshots.ts';
import { fromJsonText, idOf, toJsonText } from './shared.ts';

export const SignSnapshot: MethodCodec<methods.SignSnapshotRequest, methods.SignSnapshotResponse> = {
  request: messageCodec(
    auth.SignSnapshotRequestSchema,
    (request) => request,
    ({ sha256 }) => ({ sha256 }),
  ),
  response: messageCodec(
    auth.SignSnapshotResponseSchema,
    (response) => response,
    ({ keyId, signature }) => ({ keyId, signature }),
  ),
};

export const CheckSnapshot: MethodCodec<methods.CheckSnapshotRequest, { readonly isOurs: boolean }> = {
  request: messageCodec(
    auth.CheckSnapshotRequestSchema,
    (request) => request,
    ({ sha256, keyId, signature }) => ({ sha256, keyId, signature }),
  ),
  response: messageCodec(
    auth.CheckSnapshotResponseSchema,
    (response) => response,
    ({ isOurs }) => ({ isOurs }),
  ),
};

export const AdmitDataset: MethodCodec<methods.AdmitDatasetRequest, Record<string, never>> = {
  request: messageCodec(
    auth.AdmitDatasetRequestSchema,
    (request) => request,
    ({ tenantId, datasetId, name, crUid }) => ({ tenantId: idOf(tenantId), datasetId: idOf(datasetId), name, crUid }),
  ),
  response: messageCodec(
    auth.AdmitDatasetResponseSchema,
    () => ({}),
    () => ({}),
  ),
};

export const AdmitOwnDataset: MethodCodec<methods.AdmitOwnDatasetRequest, Record<string, never>> = {
  request: messageCodec(
    auth.AdmitOwnDatasetRequestSchema,
    (request) => request,
    ({ datasetId, name }) => ({ datasetId: idOf(datasetId), name }),
  ),
  response: messageCodec(
    auth.AdmitOwnDatasetResponseSchema,
    () => ({}),
    () => ({}),
  ),
};

export const TakeSnapshot: MethodCodec<methods.TakeSnapshotRequest, methods.SnapshotProgress> = {
  request: messageCodec(
    ingest.TakeSnapshotRequestSchema,
    ({ place, ...request }) => ({ ...request, place: toPlace(place) }),
    ({ tenantId, datasetId, crUid, name, place, verify }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid, name, place: fromPlace(place) },
      ...(verify ? { verify } : {}),
    }),
  ),
  response: messageCodec(
    ingest.TakeSnapshotResponseSchema,
    ({ snapshot, done, total, failure }) => ({
      snapshot: snapshot === null ? undefined : toInfo(snapshot),
      ...{ done: BigInt(done), total: BigInt(total), failure: failure ?? undefined },
    }),
    ({ snapshot, done, total, failure }) => ({
      snapshot: snapshot === undefined ? null : fromInfo(snapshot),
      ...{ done: Number(done), total: Number(total), failure: fromFailure(failure) },
    }),
  ),
};

export const RestoreDataset: MethodCodec<methods.RestoreDatasetRequest, methods.RestoreProgress> = {
  request: messageCodec(
    ingest.RestoreDatasetRequestSchema,
    ({ place, signers = [], ...request }) => ({ ...request, place: toPlace(place), signers: [...signers] }),
    ({ tenantId, crUid, name, snapshot, place, signers }) => ({
      ...{ tenantId: idOf(tenantId), crUid, name, snapshot: fromRef(snapshot), place: fromPlace(place) },
      ...(signers.length === 0 ? {} : { signers }),
    }),
  ),
  response: messageCodec(
    ingest.RestoreDatasetResponseSchema,
    ({ datasetId, step, done, total, failure }) => ({
      ...{ datasetId: datasetId ?? undefined, step, done: BigInt(done), total: BigInt(total) },
      failure: failure ?? undefined,
    }),
    ({ datasetId, step, done, total, failure }) => ({
      datasetId: datasetId === undefined ? null : idOf(datasetId),
      ...{ step, done: Number(done), total: Number(total), failure: fromFailure(failure) },
    }),
  ),
};

export const ListSnapshots: MethodCodec<
  methods.ListSnapshotsRequest,
  { readonly snapshots: readonly methods.SnapshotInfo[] }
> = {
  request: messageCodec(
    ingest.ListSnapshotsRequestSchema,
    (request) => request,
    ({ tenantId, datasetId }) => ({ tenantId: idOf(tenantId), datasetId: idOf(datasetId) }),
  ),
  response: messageCodec(
    ingest.ListSnapshotsResponseSchema,
    ({ snapshots }) => ({ snapshots: snapshots.map(toInfo) }),
    ({ snapshots }) => ({ snapshots: snapshots.map(fromInfo) }),
  ),
};

export const PruneSnapshots: MethodCodec<methods.PruneSnapshotsRequest, { readonly removed: readonly string[] }> = {
  request: messageCodec(
    ingest.PruneSnapshotsRequestSchema,
    ({ place, ...request }) => ({ ...request, place: toPlace(place) }),
    ({ tenantId, datasetId, crUid, keep, place }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid, keep, place: fromPlace(place) },
    }),
  ),
  response: messageCodec(
    ingest.PruneSnapshotsResponseSchema,
    ({ removed }) => ({ removed: [...removed] }),
    ({ removed }) => ({ removed }),
  ),
};

export const RestoreBuilt: MethodCodec<methods.RestoreBuiltRequest, methods.RestoreBuiltResponse> = {
  request: messageCodec(
    cognify.RestoreBuiltRequestSchema,
    ({ place, step, ...request }) => ({ ...request, place: toPlace(place), step: toStep(step) }),
    ({ tenantId, datasetId, snapshot, step, place }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), snapshot: fromRef(snapshot) },
      ...{ step: fromStep(step), place: fromPlace(place) },
    }),
  ),
  response: messageCodec(
    cognify.RestoreBuiltResponseSchema,
    ({ documents, rows: { text, vectors, nodes, edges }, left }) => ({
      ...{ documentsJson: toJsonText(documents), text: BigInt(text), vectors: BigInt(vectors) },
      ...{ nodes: BigInt(nodes), edges: BigInt(edges), left: BigInt(left) },
    }),
    ({ documentsJson, text, vectors, nodes, edges, left }) => ({
      documents: fromJsonText(documentsJson),
      rows: { text: Number(text), vectors: Number(vectors), nodes: Number(nodes), edges: Number(edges) },
      left: Number(left),
    }),
  ),
};

function toStep(
  step: methods.RestoreStep,
): NonNullable<MessageInitShape<typeof cognify.RestoreBuiltRequestSchema>['step']> {
  if (step.kind !== 'part') return { case: step.kind, value: true };
  const { part, space } = step;
  const ofSpace = space === null ? {} : { spaceModel: space.model, spaceDimensions: space.dimensions };
  return { case: 'part', value: { ...part, sizeBytes: BigInt(part.sizeBytes), ...ofSpace } };
}

function fromStep(step: cognify.RestoreBuiltRequest['step']): methods.RestoreStep {
  if (step.case === 'count' || step.case === 'discard') return { kind: step.case };
  const { kind, name, sizeBytes, sha256, spaceModel, spaceDimensions } = present(step.value, 'step');
  const known = SNAPSHOT_PART_KINDS.find((one) => one === kind);
  if (known === undefined) throw new Error(`unknown kind of part ${kind}`);
  return {
    kind: 'part',
    part: { kind: known, name, sizeBytes: Number(sizeBytes), sha256 },
    space: spaceModel === undefined ? null : { model: spaceModel, dimensions: spaceDimensions },
  };
}

export function toPlace(place: SnapshotPlace): MessageInitShape<typeof shared.SnapshotBucketSchema> | undefined {
  return place === null ? undefined : { ...place, endpoint: place.endpoint ?? undefined };
}

export function fromPlace(place: shared.SnapshotBucket | undefined): SnapshotPlace {
  if (place === undefined) return null;
  const { endpoint, bucket, prefix, region, accessKey, secretKey } = place;
  return { endpoint: endpoint ?? null, bucket, prefix, region, accessKey, secretKey };
}

function fromRef(snapshot: shared.SnapshotRef | undefined): methods.SnapshotRef {
  const { tenantId, name } = present(snapshot, 'snapshot');
  return { tenantId: idOf(tenantId), name };
}

function toInfo(info: methods.SnapshotInfo): MessageInitShape<typeof ingest.SnapshotInfoSchema> {
  return { ...info, items: BigInt(info.items), sizeBytes: BigInt(info.sizeBytes) };
}

function fromInfo(info: ingest.SnapshotInfo): methods.SnapshotInfo {
  const { name, tenantId, datasetId, at, items, sizeBytes, sha256, place } = info;
  return {
    ...{ name, tenantId: idOf(tenantId), datasetId: idOf(datasetId), at },
    ...{ items: Number(items), sizeBytes: Number(sizeBytes), sha256, place },
  };
}

function fromFailure(failure: ingest.SnapshotFailure | undefined): methods.SnapshotFailure | null {
  return failure === undefined ? null : { name: failure.name, message: failure.message };
}
