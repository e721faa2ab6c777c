import type { MessageInitShape } from '@bufbuild/protobuf';
import * as wire from '../../../../../proto/gen/engram/auth/v1/managed_pb.ts';
import type { DatasetId } from '../../../kernel/brand.ts';
import { engramError } from '../../../kernel/errors.ts';
import { enumMapping, type MethodCodec, messageCodec, present } from '../codec.ts';
import type { GetPrincipalResponse } from '../methods/auth.ts';
import type * as methods from '../methods/auth-managed.ts';
import { permission } from './permission.ts';
import { fromDataset, fromJsonText, fromPrincipal, idOf, maybe, toDataset, toJsonText, toPrincipal } from './shared.ts';

const tenantState = enumMapping<methods.DeclaredTenantState, wire.TenantState>({
  Active: wire.TenantState.ACTIVE,
  Hibernated: wire.TenantState.HIBERNATED,
  Disabled: wire.TenantState.DISABLED,
});

export const EnsureTenant: MethodCodec<methods.EnsureTenantRequest, methods.EnsureTenantResponse> = {
  request: messageCodec(
    wire.EnsureTenantRequestSchema,
    ({ hostNames, state, hibernation, wake = false, adoptsAny = false, ...rest }) => ({
      ...{ ...rest, hostNames: [...hostNames], state: tenantState.toWire(state), wake, adoptsAny },
      ...(hibernation === undefined
        ? {}
        : { hibernation: { ...hibernation, afterIdleMs: BigInt(hibernation.afterIdleMs) } }),
    }),
    ({ crUid, displayName, ownerEmail, hostNames, state, hibernation, wake, adoptsAny, ...maybes }) => ({
      ...{ crUid, displayName, ownerEmail, hostNames, state: tenantState.fromWire(state) },
      ...(wake ? { wake } : {}),
      ...(adoptsAny ? { adoptsAny } : {}),
      ...maybe('resource', maybes.resource),
      ...maybe('tenantId', maybes.tenantId),
      ...maybe('ownerPasswordHash', maybes.ownerPasswordHash),
      ...maybe('ownerPassword', maybes.ownerPassword),
      ...maybe('hibernation', hibernation && fromHibernation(hibernation)),
    }),
  ),
  response: messageCodec(
    wire.EnsureTenantResponseSchema,
    ({ corrected, ...rest }) => ({ ...rest, corrected: [...corrected] }),
    ({ tenantId, ownerId, created, corrected, isAsleep }) => ({
      ...{ tenantId: idOf(tenantId), ownerId: idOf(ownerId), created, corrected, isAsleep },
    }),
  ),
};

function fromHibernation({ afterIdleMs, wakesOnRequest }: wire.TenantHibernation) {
  return { afterIdleMs: Number(afterIdleMs), wakesOnRequest };
}

export const SetTenantKeys: MethodCodec<methods.SetTenantKeysRequest, methods.SetTenantKeysResponse> = {
  request: messageCodec(
    wire.SetTenantKeysRequestSchema,
    ({ keySha256, ...rest }) => ({ ...rest, keySha256: [...keySha256] }),
    ({ tenantId, crUid, name, keySha256 }) => ({ tenantId: idOf(tenantId), crUid, name, keySha256 }),
  ),
  response: messageCodec(
    wire.SetTenantKeysResponseSchema,
    (response) => response,
    ({ added, removed }) => ({ added, removed }),
  ),
};

export const SetTenantModel: MethodCodec<methods.SetTenantModelRequest, methods.SetTenantModelResponse> = {
  request: messageCodec(
    wire.SetTenantModelRequestSchema,
    (request) => request,
    ({ tenantId, crUid, languageModel }) => ({
      ...{ tenantId: idOf(tenantId), crUid },
      ...(languageModel === undefined ? {} : { languageModel: fromLanguageModel(languageModel) }),
    }),
  ),
  response: messageCodec(
    wire.SetTenantModelResponseSchema,
    (response) => response,
    ({ changed }) => ({ changed }),
  ),
};

function fromLanguageModel({ provider, model, endpoint, apiKey }: wire.TenantLanguageModel) {
  return { provider, model, ...maybe('endpoint', endpoint), ...maybe('apiKey', apiKey) };
}

export const SetTenantEmbedding: MethodCodec<methods.SetTenantEmbeddingRequest, methods.SetTenantEmbeddingResponse> = {
  request: messageCodec(
    wire.SetTenantEmbeddingRequestSchema,
    (request) => request,
    ({ tenantId, crUid, embedding }) => ({
      ...{ tenantId: idOf(tenantId), crUid },
      ...(embedding === undefined ? {} : { embedding: fromEmbedding(embedding) }),
    }),
  ),
  response: messageCodec(
    wire.SetTenantEmbeddingResponseSchema,
    (response) => response,
    ({ changed }) => ({ changed }),
  ),
};

function fromEmbedding({ provider, model, dimensions, endpoint, apiKey }: wire.TenantEmbedding) {
  return { provider, model, dimensions, ...maybe('endpoint', endpoint), ...maybe('apiKey', apiKey) };
}

export const EnsureDataset: MethodCodec<methods.EnsureDatasetRequest, methods.EnsureDatasetResponse> = {
  request: messageCodec(
    wire.EnsureDatasetRequestSchema,
    (request) => request,
    ({ crUid, tenantId, name, datasetId }) => ({
      ...{ crUid, tenantId: idOf(tenantId), name, ...maybe('datasetId', datasetId) },
    }),
  ),
  response: messageCodec(
    wire.EnsureDatasetResponseSchema,
    ({ dataset, created }) => ({ dataset: toDataset(dataset), created }),
    ({ dataset, created }) => ({ dataset: fromDataset(present(dataset, 'dataset')), created }),
  ),
};

export const SyncGrants: MethodCodec<methods.SyncGrantsRequest, methods.SyncGrantsResponse> = {
  request: messageCodec(
    wire.SyncGrantsRequestSchema,
    ({ grants, ...rest }) => ({ ...rest, grants: grants.map(toGrant) }),
    ({ tenantId, datasetId, crUid, grants, exclusive }) => ({
      ...{ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid, exclusive, grants: grants.map(fromGrant) },
    }),
  ),
  response: messageCodec(
    wire.SyncGrantsResponseSchema,
    ({ unknownPrincipals, ...rest }) => ({ ...rest, unknownPrincipals: [...unknownPrincipals] }),
    ({ added, removed, unknownPrincipals }) => ({ added, removed, unknownPrincipals }),
  ),
};

function toGrant({ holder, permissions }: methods.DeclaredGrant): MessageInitShape<typeof wire.DeclaredGrantSchema> {
  return { holder: toHolder(holder), permissions: permissions.map(permission.toWire) };
}

function toHolder(holder: methods.DeclaredHolder): NonNullable<wire.DeclaredGrant['holder']> {
  if ('userEmail' in holder) return { case: 'userEmail', value: holder.userEmail };
  if ('roleName' in holder) return { case: 'roleName', value: holder.roleName };
  return { case: 'tenantId', value: holder.tenantId };
}

function fromGrant({ holder, permissions }: wire.DeclaredGrant): methods.DeclaredGrant {
  return { holder: fromHolder(holder), permissions: permissions.map(permission.fromWire) };
}

function fromHolder(holder: wire.DeclaredGrant['holder']): methods.DeclaredHolder {
  if (holder.case === 'userEmail') return { userEmail: holder.value };
  if (holder.case === 'roleName') return { roleName: holder.value };
  if (holder.case === 'tenantId') return { tenantId: holder.value };
  throw engramError('InvalidRequestError', 'A grant names neither a user nor a role nor a tenant.');
}

export const GetEraser: MethodCodec<methods.GetEraserRequest, GetPrincipalResponse> = {
  request: messageCodec(
    wire.GetEraserRequestSchema,
    (request) => request,
    ({ tenantId, datasetId }) => ({ tenantId: idOf(tenantId), datasetId: idOf(datasetId) }),
  ),
  response: messageCodec(
    wire.GetEraserResponseSchema,
    ({ principal, token }) => ({ principal: principal === null ? undefined : toPrincipal(principal), token }),
    ({ principal, token }) => ({
      principal: principal === undefined ? null : fromPrincipal(principal),
      ...maybe('token', token),
    }),
  ),
};

export const BeginErasure: MethodCodec<methods.ErasedThing, methods.BeginErasureResponse> = {
  request: messageCodec(
    wire.BeginErasureRequestSchema,
    (request) => request,
    ({ tenantId, datasetId, crUid }) => ({ tenantId: idOf(tenantId), crUid, ...maybeDataset(datasetId) }),
  ),
  response: messageCodec(
    wire.BeginErasureResponseSchema,
    ({ receipt, dataset, principal, token, datasetIds }) => ({
      receiptJson: receipt ?? undefined,
      dataset: dataset === null ? undefined : toDataset(dataset),
      principal: principal === null ? undefined : toPrincipal(principal),
      ...{ token, datasetIds: [...datasetIds] },
    }),
    ({ receiptJson, dataset, principal, token, datasetIds }) => ({
      receipt: receiptJson ?? null,
      dataset: dataset === undefined ? null : fromDataset(dataset),
      principal: principal === undefined ? null : fromPrincipal(principal),
      ...maybe('token', token),
      datasetIds,
    }),
  ),
};

export const EndErasure: MethodCodec<methods.EndErasureRequest, methods.EndErasureResponse> = {
  request: messageCodec(
    wire.EndErasureRequestSchema,
    ({ removed, kept, ...rest }) => ({ ...rest, removedJson: toJsonText(removed), kept: [...kept] }),
    ({ tenantId, datasetId, crUid, begunAt, removedJson, kept }) => ({
      ...{ tenantId: idOf(tenantId), crUid, ...maybeDataset(datasetId), begunAt, kept },
      removed: fromJsonText(removedJson),
    }),
  ),
  response: messageCodec(
    wire.EndErasureResponseSchema,
    ({ receipt }) => ({ receiptJson: receipt }),
    ({ receiptJson }) => ({ receipt: receiptJson }),
  ),
};

function maybeDataset(id: string | undefined): { readonly datasetId?: DatasetId } {
  return id === undefined ? {} : { datasetId: idOf<DatasetId>(id) };
}

export const OpenCanary: MethodCodec<methods.OpenCanaryRequest, methods.OpenCanaryResponse> = {
  request: messageCodec(
    wire.OpenCanaryRequestSchema,
    (request) => request,
    ({ tenantId, crUid }) => ({ tenantId: idOf(tenantId), crUid }),
  ),
  response: messageCodec(
    wire.OpenCanaryResponseSchema,
    ({ dataset, principal, token }) => ({ dataset: toDataset(dataset), principal: toPrincipal(principal), token }),
    ({ dataset, principal, token }) => ({
      dataset: fromDataset(present(dataset, 'dataset')),
      principal: fromPrincipal(present(principal, 'principal')),
      token,
    }),
  ),
};

export const FindManaged: MethodCodec<methods.FindManagedRequest, methods.FindManagedResponse> = {
  request: messageCodec(
    wire.FindManagedRequestSchema,
    (request) => request,
    ({ crUid }) => ({ crUid }),
  ),
  response: messageCodec(
    wire.FindManagedResponseSchema,
    ({ managed }) => ({
      ...(managed === null
        ? {}
        : {
            tenantId: managed.tenantId,
            ...maybe('datasetId', managed.datasetId ?? undefined),
            isErasing: managed.isErasing,
          }),
    }),
    ({ tenantId, datasetId, isErasing }) => ({
      managed:
        tenantId === undefined
          ? null
          : { tenantId: idOf(tenantId), datasetId: datasetId === undefined ? null : idOf(datasetId), isErasing },
    }),
  ),
};

export const ReleaseTenant: MethodCodec<methods.ReleaseTenantRequest, methods.ReleaseResponse> = {
  request: messageCodec(
    wire.ReleaseTenantRequestSchema,
    (request) => request,
    ({ tenantId, crUid, resource }) => ({ tenantId: idOf(tenantId), crUid, ...maybe('resource', resource) }),
  ),
  response: messageCodec(
    wire.ReleaseTenantResponseSchema,
    (response) => response,
    ({ released }) => ({ released }),
  ),
};

export const ReleaseDataset: MethodCodec<methods.ReleaseDatasetRequest, methods.ReleaseResponse> = {
  request: messageCodec(
    wire.ReleaseDatasetRequestSchema,
    (request) => request,
    ({ tenantId, datasetId, crUid }) => ({ tenantId: idOf(tenantId), datasetId: idOf(datasetId), crUid }),
  ),
  response: messageCodec(
    wire.ReleaseDatasetResponseSchema,
    (response) => response,
    ({ released }) => ({ released }),
  ),
};
