import type { TenantHibernation, TenantState } from '../../../domain/tenant-state.ts';
import type { DatasetId, TenantId, UserId } from '../../../kernel/brand.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Permission, Principal } from '../../../kernel/principal.ts';
import { defineMethod } from '../method.ts';
import type { GetPrincipalResponse } from './auth.ts';

/**
 * What the operator asks of auth for its `Tenant` and `Dataset` resources. Everything is idempotent, and `crUid` – the
 * `metadata.uid` of the resource – says who asks: `OwnedByAnother` (409) where another resource manages the thing.
 */
const codecs = () => import('../codecs/auth-managed.ts');

/** What a Tenant resource asks of the workload. */
export type DeclaredTenantState = Exclude<TenantState, 'Erasing'>;

export interface EnsureTenantRequest {
  readonly crUid: string;
  readonly displayName: string;
  /** Adopts the tenant of this id. */
  readonly tenantId?: string;
  /** `namespace/name` of the resource: a tenant is adopted by one of the place that released it. */
  readonly resource?: string;
  /** The resource stands where those stand who may adopt any tenant. */
  readonly adoptsAny?: boolean;
  readonly ownerEmail: string;
  /** PHC string (argon2id) or bcrypt, of a new account alone: who has one keeps its password. */
  readonly ownerPasswordHash?: string;
  /** In place of the hash. */
  readonly ownerPassword?: string;
  /** Without port; exactly these are the tenant's. */
  readonly hostNames: readonly string[];
  readonly state: DeclaredTenantState;
  /** Of an active tenant: it goes to sleep by itself. Absent: it does not. */
  readonly hibernation?: TenantHibernation;
  /** Somebody wants it awake: as if it were used now. */
  readonly wake?: boolean;
}

export interface EnsureTenantResponse {
  readonly tenantId: TenantId;
  readonly ownerId: UserId;
  readonly created: boolean;
  /** What was otherwise than declared and was set right: adopted, host_names, name, owner, state. Sorted. */
  readonly corrected: readonly string[];
  /** It is hibernated because nobody used it. */
  readonly isAsleep: boolean;
}

/**
 * Makes the tenant of a resource with its owner, or sets right what differs. Errors: `TenantNotFoundError` (none of the id to
 * adopt), `AdoptionNotAllowed` (403, no resource of this place released it), `OwnedByAnother`, `HostnameConflict`
 * (409, a host name of another tenant), `OwnerUnverified` (409, the address has an account that never proved it),
 * `InvalidRequestError` (an address that cannot be, a host name or password hash that is none, a new account without
 * password), `ConflictError` (the tenant is being erased).
 */
export const ensureTenant = defineMethod<EnsureTenantRequest, EnsureTenantResponse>('auth.EnsureTenant', () =>
  codecs().then(({ EnsureTenant }) => EnsureTenant),
);

export interface SetTenantKeysRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** Of an entry of `spec.apiKeys`. */
  readonly name: string;
  /** Lower-case hex; exactly these are valid under the name. */
  readonly keySha256: readonly string[];
}

export interface SetTenantKeysResponse {
  readonly added: number;
  readonly removed: number;
}

/**
 * Makes exactly these keys valid under a name. They act as the tenant's owner, in the tenant and nowhere else. Errors:
 * `TenantNotFoundError`, `OwnedByAnother`, `InvalidRequestError` (no SHA-256), `ConflictError` (somebody else's key).
 */
export const setTenantKeys = defineMethod<SetTenantKeysRequest, SetTenantKeysResponse>('auth.SetTenantKeys', () =>
  codecs().then(({ SetTenantKeys }) => SetTenantKeys),
);

export interface SetTenantModelRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** Absent: the tenant uses the server's. */
  readonly languageModel?: {
    /** As of `LLM_PROVIDER`. */
    readonly provider: string;
    readonly model: string;
    /** Absent: the provider's own. */
    readonly endpoint?: string;
    /** Is kept sealed and stands in no answer. */
    readonly apiKey?: string;
  };
}

export interface SetTenantModelResponse {
  readonly changed: boolean;
}

/**
 * Gives a tenant a language model on its own account, in place of the server's, or takes it back: for what begins from then
 * on. Errors: `TenantNotFoundError`, `OwnedByAnother`, `InvalidRequestError` (no provider or model).
 */
export const setTenantModel = defineMethod<SetTenantModelRequest, SetTenantModelResponse>('auth.SetTenantModel', () =>
  codecs().then(({ SetTenantModel }) => SetTenantModel),
);

export interface SetTenantEmbeddingRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** Absent: the tenant uses the server's. */
  readonly embedding?: {
    /** As of `EMBEDDING_PROVIDER`; `builtin`: the server's hashing, whose model is `hashing-v1`. */
    readonly provider: string;
    readonly model: string;
    readonly dimensions: number;
    /** Absent: the provider's own. */
    readonly endpoint?: string;
    /** Is kept sealed and stands in no answer. */
    readonly apiKey?: string;
  };
}

export interface SetTenantEmbeddingResponse {
  readonly changed: boolean;
}

/**
 * Gives a tenant an embedding model on its own account, in place of the server's, or takes it back. New datasets get its
 * vectors; those that have others keep and use them until `cognify.MigrateEmbedding` has made them anew. Errors:
 * `TenantNotFoundError`, `OwnedByAnother`, `InvalidRequestError` (no provider or model, or dimensions that there are not).
 */
export const setTenantEmbedding = defineMethod<SetTenantEmbeddingRequest, SetTenantEmbeddingResponse>(
  'auth.SetTenantEmbedding',
  () => codecs().then(({ SetTenantEmbedding }) => SetTenantEmbedding),
);

export interface EnsureDatasetRequest {
  readonly crUid: string;
  readonly tenantId: TenantId;
  readonly name: string;
  /** Adopts the dataset of this id. */
  readonly datasetId?: string;
}

export interface EnsureDatasetResponse {
  readonly dataset: DatasetRef;
  readonly created: boolean;
}

/**
 * Makes or adopts the dataset of a resource; a new one is the tenant owner's. Errors: `TenantNotFoundError`,
 * `DatasetNotFoundError` (none of the id to adopt), `OwnedByAnother`, `InvalidDatasetNameError`, `PayloadTooLargeError`
 * (budget), `ConflictError` (it is being erased).
 */
export const ensureDataset = defineMethod<EnsureDatasetRequest, EnsureDatasetResponse>('auth.EnsureDataset', () =>
  codecs().then(({ EnsureDataset }) => EnsureDataset),
);

/** Who is to have something, as a resource names it. */
export type DeclaredHolder =
  | { readonly userEmail: string }
  | { readonly roleName: string }
  | { readonly tenantId: string };

export interface DeclaredGrant {
  readonly holder: DeclaredHolder;
  readonly permissions: readonly Permission[];
}

export interface SyncGrantsRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly crUid: string;
  readonly grants: readonly DeclaredGrant[];
  /** Takes what is not declared, also what was given by hand; never what the owner has. */
  readonly exclusive: boolean;
}

export interface SyncGrantsResponse {
  /** Single permissions. */
  readonly added: number;
  readonly removed: number;
  /** `user/ana@acme.example`, `role/support`, `tenant/<id>`; sorted. The others have their grants. */
  readonly unknownPrincipals: readonly string[];
}

/**
 * Gives what a resource declares, and takes what it declared before and declares no more. Errors: `DatasetNotFoundError`,
 * `OwnedByAnother` (also for a dataset that no resource manages).
 */
export const syncGrants = defineMethod<SyncGrantsRequest, SyncGrantsResponse>('auth.SyncGrants', () =>
  codecs().then(({ SyncGrants }) => SyncGrants),
);

/** A dataset, or without one a whole tenant. */
export interface ErasedThing {
  readonly tenantId: TenantId;
  readonly datasetId?: DatasetId;
  /** Of the resource that manages it, or the tenant that is being erased. */
  readonly crUid: string;
}

export interface GetEraserRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
}

/**
 * For ingest, which forgets what has outlived the time that a resource declares: that is the owner's word, also in a tenant
 * that is shut, and whatever became of the account. It is no use of the tenant. Null when there is no such dataset.
 */
export const getEraser = defineMethod<GetEraserRequest, GetPrincipalResponse>('auth.GetEraser', () =>
  codecs().then(({ GetEraser }) => GetEraser),
);

export interface BeginErasureResponse {
  /** It was erased before: nothing is to be done. */
  readonly receipt: string | null;
  /** Null when it is gone already, and for a tenant. */
  readonly dataset: DatasetRef | null;
  /** It may delete the dataset; nobody may anything else any more. Null without a dataset. */
  readonly principal: Principal | null;
  /** Speaks for the principal for a minute. */
  readonly token?: string;
  /** The first datasets of a tenant, at most 100. */
  readonly datasetIds: readonly string[];
}

/**
 * For ingest, which erases for the operator: from now on nobody gets at the thing any more but who erases it. Errors:
 * `OwnedByAnother`, `TenantNotFoundError`, `DatasetNotFoundError`.
 */
export const beginErasure = defineMethod<ErasedThing, BeginErasureResponse>('auth.BeginErasure', () =>
  codecs().then(({ BeginErasure }) => BeginErasure),
);

export interface EndErasureRequest extends ErasedThing {
  readonly begunAt: string;
  /** Counts by kind. */
  readonly removed: JsonObject;
  /** What stays on purpose, beside what always does. */
  readonly kept: readonly string[];
}

export interface EndErasureResponse {
  /** JSON text, signed. */
  readonly receipt: string;
}

/**
 * Once all others have nothing left: auth removes what it has, keeps the receipt and answers it, for ever the same. Errors:
 * `OwnedByAnother`, `ConflictError` while datasets are left.
 */
export const endErasure = defineMethod<EndErasureRequest, EndErasureResponse>('auth.EndErasure', () =>
  codecs().then(({ EndErasure }) => EndErasure),
);

export interface OpenCanaryRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
}

export interface OpenCanaryResponse {
  /** Its name is the canary's marker. */
  readonly dataset: DatasetRef;
  readonly principal: Principal;
  /** Speaks for the principal for a minute. */
  readonly token: string;
}

/**
 * Makes the dataset of a tenant's canary (common/domain/canary.ts), or answers the one that is there. Errors:
 * `TenantNotFoundError`, `OwnedByAnother` (also for a tenant that no resource manages), `ConflictError` (the tenant is being
 * erased).
 */
export const openCanary = defineMethod<OpenCanaryRequest, OpenCanaryResponse>('auth.OpenCanary', () =>
  codecs().then(({ OpenCanary }) => OpenCanary),
);

export interface FindManagedRequest {
  readonly crUid: string;
}

export interface FindManagedResponse {
  /** Null: the resource manages nothing. */
  readonly managed: {
    readonly tenantId: TenantId;
    readonly datasetId: DatasetId | null;
    /** Its erasure has begun, or has ended already: it cannot be released any more. */
    readonly isErasing: boolean;
  } | null;
}

/** What a resource manages, also while that is being erased and afterwards. Makes and changes nothing. */
export const findManaged = defineMethod<FindManagedRequest, FindManagedResponse>('auth.FindManaged', () =>
  codecs().then(({ FindManaged }) => FindManaged),
);

export interface ReleaseTenantRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** `namespace/name` of the resource: one of that place may adopt the tenant again. */
  readonly resource?: string;
}

export interface ReleaseResponse {
  /** False: the resource did not manage it. */
  readonly released: boolean;
}

/**
 * The resource manages the tenant no more; data, keys, host names and state stay as they are. `ConflictError` once its erasure
 * has begun: half of a tenant is not kept.
 */
export const releaseTenant = defineMethod<ReleaseTenantRequest, ReleaseResponse>('auth.ReleaseTenant', () =>
  codecs().then(({ ReleaseTenant }) => ReleaseTenant),
);

export interface ReleaseDatasetRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly crUid: string;
}

/** The resource manages the dataset no more; data and grants stay as they are. `ConflictError` as of `releaseTenant`. */
export const releaseDataset = defineMethod<ReleaseDatasetRequest, ReleaseResponse>('auth.ReleaseDataset', () =>
  codecs().then(({ ReleaseDataset }) => ReleaseDataset),
);
