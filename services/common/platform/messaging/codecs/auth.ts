import * as wire from '../../../../../proto/gen/engram/auth/v1/auth_pb.ts';
import { BUDGET_KINDS, type BudgetKind, type BudgetLimit } from '../../../domain/budget.ts';
import { isCapability } from '../../../domain/capabilities.ts';
import { engramError } from '../../../kernel/errors.ts';
import { enumMapping, type MethodCodec, messageCodec, present } from '../codec.ts';
import type * as methods from '../methods/auth.ts';
import { permission } from './permission.ts';
import { fromDataset, fromIdList, fromPrincipal, idOf, maybe, toDataset, toIdList, toPrincipal } from './shared.ts';

const credentialKind = enumMapping<methods.Credential['kind'], wire.CredentialKind>({
  'api-key': wire.CredentialKind.API_KEY,
  bearer: wire.CredentialKind.BEARER,
  cookie: wire.CredentialKind.COOKIE,
});

/** UTF-8 cannot carry half a surrogate pair: another name would be created. */
function creatable(name: string): string {
  if (!name.isWellFormed()) throw engramError('InvalidDatasetNameError', 'Dataset name cannot be broken Unicode.');
  return name;
}

export const Authenticate: MethodCodec<methods.AuthenticateRequest, methods.AuthenticateResponse> = {
  request: messageCodec(
    wire.AuthenticateRequestSchema,
    ({ credentials, strict, host, unattended }) => ({
      credentials: credentials.map(({ kind, value }) => ({ kind: credentialKind.toWire(kind), value })),
      ...{ strict, host, unattended },
    }),
    ({ credentials, strict, host, unattended }) => ({
      credentials: credentials.map(({ kind, value }) => ({ kind: credentialKind.fromWire(kind), value })),
      ...maybe('strict', strict),
      ...maybe('host', host),
      ...maybe('unattended', unattended),
    }),
  ),
  response: messageCodec(
    wire.AuthenticateResponseSchema,
    ({ principal, required, posture, token, tenantState }) => ({
      principal: principal === null ? undefined : toPrincipal(principal),
      ...{ required, posture, token, tenantState },
    }),
    ({ principal, required, posture, token, tenantState }) => ({
      principal: principal === undefined ? null : fromPrincipal(principal),
      ...{ required, posture, ...maybe('token', token), ...closureOf(tenantState) },
    }),
  ),
};

/** A state of another release must not be taken for one that answers. */
function closureOf(word: string | undefined): { readonly tenantState?: methods.Closure } {
  if (word === undefined) return {};
  return { tenantState: word === 'Hibernated' || word === 'Erasing' ? word : 'Disabled' };
}

export const GetPrincipal: MethodCodec<methods.GetPrincipalRequest, methods.GetPrincipalResponse> = {
  request: messageCodec(
    wire.GetPrincipalRequestSchema,
    ({ userId, tenant, key, unattended }) => ({ userId, tenant, key, unattended }),
    ({ userId, tenant, key, unattended }) => ({
      ...{ userId, tenant },
      ...maybe('key', key),
      ...maybe('unattended', unattended),
    }),
  ),
  response: messageCodec(
    wire.GetPrincipalResponseSchema,
    ({ principal, token }) => ({ principal: principal === null ? undefined : toPrincipal(principal), token }),
    ({ principal, token }) => ({
      principal: principal === undefined ? null : fromPrincipal(principal),
      ...maybe('token', token),
    }),
  ),
};

export const HeldCapabilities: MethodCodec<Record<string, never>, methods.HeldCapabilitiesResponse> = {
  request: messageCodec(
    wire.HeldCapabilitiesRequestSchema,
    () => ({}),
    () => ({}),
  ),
  response: messageCodec(
    wire.HeldCapabilitiesResponseSchema,
    ({ capabilities }) => ({ capabilities: [...capabilities] }),
    // Those of a later release are passed over.
    ({ capabilities }) => ({ capabilities: capabilities.filter(isCapability) }),
  ),
};

export const ResolveDatasets: MethodCodec<methods.ResolveDatasetsRequest, methods.ResolveDatasetsResponse> = {
  request: messageCodec(
    wire.ResolveDatasetsRequestSchema,
    ({ permission: word, ids, names, createMissing, namesAmongPermitted }) => ({
      permission: permission.toWire(word),
      ids: toIdList(ids),
      names: toIdList(createMissing ? names?.map(creatable) : names),
      createMissing,
      namesAmongPermitted,
    }),
    ({ permission: number, ids, names, createMissing, namesAmongPermitted }) => ({
      permission: permission.fromWire(number),
      ...fromIdList('ids', ids),
      ...fromIdList('names', names),
      ...maybe('createMissing', createMissing),
      ...maybe('namesAmongPermitted', namesAmongPermitted),
    }),
  ),
  response: messageCodec(
    wire.ResolveDatasetsResponseSchema,
    ({ datasets }) => ({ datasets: datasets.map(toDataset) }),
    ({ datasets }) => ({ datasets: datasets.map(fromDataset) }),
  ),
};

export const CreateDataset: MethodCodec<methods.CreateDatasetRequest, methods.CreateDatasetResponse> = {
  request: messageCodec(
    wire.CreateDatasetRequestSchema,
    ({ name }) => ({ name: creatable(name) }),
    ({ name }) => ({ name }),
  ),
  response: messageCodec(
    wire.CreateDatasetResponseSchema,
    ({ dataset }) => ({ dataset: toDataset(dataset) }),
    ({ dataset }) => ({ dataset: fromDataset(present(dataset, 'dataset')) }),
  ),
};

export const RemoveDataset: MethodCodec<methods.RemoveDatasetRequest, methods.RemoveDatasetResponse> = {
  request: messageCodec(
    wire.RemoveDatasetRequestSchema,
    ({ dataset }) => ({ dataset: toDataset(dataset) }),
    ({ dataset }) => ({ dataset: fromDataset(present(dataset, 'dataset')) }),
  ),
  response: messageCodec(
    wire.RemoveDatasetResponseSchema,
    ({ removed }) => ({ removed }),
    ({ removed }) => ({ removed }),
  ),
};

export const SetQuota: MethodCodec<methods.SetQuotaRequest, Record<string, never>> = {
  request: messageCodec(
    wire.SetQuotaRequestSchema,
    ({ tenant, limits }) => ({
      tenant,
      quotas: Object.entries(limits).map(([kind, { limit, action }]) => ({
        ...{ kind, limit: limit ?? undefined, warnsOnly: action === 'Warn' },
      })),
    }),
    ({ tenant, quotas }) => ({ tenant: idOf(tenant), limits: Object.fromEntries(quotas.map(fromQuota)) }),
  ),
  response: messageCodec(
    wire.SetQuotaResponseSchema,
    () => ({}),
    () => ({}),
  ),
};

function fromQuota({ kind, limit, warnsOnly }: wire.Quota): readonly [BudgetKind, BudgetLimit] {
  return [budgetKind(kind), { limit: limit ?? null, action: warnsOnly ? 'Warn' : 'Enforce' }];
}

/** A kind of another release must not be taken for no limit. */
function budgetKind(word: string): BudgetKind {
  const kind = BUDGET_KINDS.find((known) => known === word);
  if (kind === undefined) throw engramError('InvalidRequestError', `There is no budget of ${word}.`);
  return kind;
}

export const Usage: MethodCodec<methods.UsageRequest, methods.UsageResponse> = {
  request: messageCodec(
    wire.UsageRequestSchema,
    ({ tenant }) => ({ tenant }),
    ({ tenant }) => ({ tenant: idOf(tenant) }),
  ),
  response: messageCodec(
    wire.UsageResponseSchema,
    ({ usage }) => ({ usage: usage.map(({ limit, ...rest }) => ({ ...rest, limit: limit ?? undefined })) }),
    ({ usage }) => ({
      usage: usage.map(({ kind, used, limit, warnsOnly }) => ({
        ...{ kind: budgetKind(kind), used, limit: limit ?? null, warnsOnly },
      })),
    }),
  ),
};

export const GetPublicKeys: MethodCodec<Record<string, never>, methods.GetPublicKeysResponse> = {
  request: messageCodec(
    wire.GetPublicKeysRequestSchema,
    () => ({}),
    () => ({}),
  ),
  response: messageCodec(
    wire.GetPublicKeysResponseSchema,
    ({ jwks }) => ({ jwks: [...jwks] }),
    ({ jwks }) => ({ jwks }),
  ),
};
