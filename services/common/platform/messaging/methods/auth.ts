import type { BudgetKind, BudgetLimits } from '../../../domain/budget.ts';
import type { Capability } from '../../../domain/capabilities.ts';
import type { TenantState } from '../../../domain/tenant-state.ts';
import type { DatasetId, TenantId, UserId } from '../../../kernel/brand.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { Permission, Principal } from '../../../kernel/principal.ts';
import { defineMethod, defineTopic } from '../method.ts';

const codecs = () => import('../codecs/auth.ts');

/** Credentials in the order they are tried; the first that belongs to an active user wins. */
export interface Credential {
  readonly kind: 'api-key' | 'bearer' | 'cookie';
  readonly value: string;
}

export interface AuthenticateRequest {
  readonly credentials: readonly Credential[];
  readonly strict?: boolean;
  /** Host name of the request, lower case and without port, where host names select tenants. */
  readonly host?: string;
  /** Nobody need be there who asks: it is no use of the tenant, and does not wake it. */
  readonly unattended?: boolean;
}

/** Why a tenant does not answer. */
export type Closure = Exclude<TenantState, 'Active'>;

export interface AuthenticateResponse {
  readonly principal: Principal | null;
  readonly required: boolean;
  readonly posture: string;
  /** Speaks for the principal for a minute. */
  readonly token?: string;
  /** Of the tenant that the principal works in; absent: it answers. */
  readonly tenantState?: Closure;
}

/** Principal, or null when no credential was accepted and the posture demands one. Open mode answers the default user. */
export const authenticate = defineMethod<AuthenticateRequest, AuthenticateResponse>('auth.Authenticate', () =>
  codecs().then(({ Authenticate }) => Authenticate),
);

export interface GetPrincipalRequest {
  readonly userId: string;
  readonly tenant: string;
  /** Id of the API key that the user asked with. */
  readonly key?: string;
  /** The account is only looked at: it is no use of the tenant. */
  readonly unattended?: boolean;
}

export interface GetPrincipalResponse {
  readonly principal: Principal | null;
  /** Speaks for the principal for a minute. */
  readonly token?: string;
}

/** A job is authorised again when it is claimed: null when the user is gone or inactive. */
export const getPrincipal = defineMethod<GetPrincipalRequest, GetPrincipalResponse>('auth.GetPrincipal', () =>
  codecs().then(({ GetPrincipal }) => GetPrincipal),
);

export interface HeldCapabilitiesResponse {
  readonly capabilities: readonly Capability[];
}

/** What the principal may do beyond datasets in the tenant that it works in; nothing in the personal space. */
export const heldCapabilities = defineMethod<Record<string, never>, HeldCapabilitiesResponse>(
  'auth.HeldCapabilities',
  () => codecs().then(({ HeldCapabilities }) => HeldCapabilities),
);

export interface ResolveDatasetsRequest {
  readonly permission: Permission;
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
  readonly createMissing?: boolean;
  /** `forget` alone: names resolve among all datasets with the permission. */
  readonly namesAmongPermitted?: boolean;
}

export interface ResolveDatasetsResponse {
  readonly datasets: readonly DatasetRef[];
}

/**
 * Datasets a request names, all of them with `permission` for the caller, in request order, each once. `ids` win over
 * `names`; an empty `ids` counts as absent, an empty `names` is `DatasetNotFoundError`. Neither given means every dataset of
 * the caller with that permission, oldest first, perhaps none (`nothingPermitted` in domain/permissions.ts is the error of
 * routes that need one). Names resolve among datasets the caller owns in the current tenant. Errors:
 * `PermissionDeniedError` for an id that is missing or not permitted (alike), `DatasetNotFoundError` for an unknown name
 * unless `createMissing`, `InvalidDatasetNameError` (blank or dot in a name to be created).
 */
export const resolveDatasets = defineMethod<ResolveDatasetsRequest, ResolveDatasetsResponse>(
  'auth.ResolveDatasets',
  () => codecs().then(({ ResolveDatasets }) => ResolveDatasets),
);

export interface CreateDatasetRequest {
  readonly name: string;
}

export interface CreateDatasetResponse {
  readonly dataset: DatasetRef;
}

/** Makes the dataset with all four grants for its owner (and the owner's parent), or answers the existing one. */
export const createDataset = defineMethod<CreateDatasetRequest, CreateDatasetResponse>('auth.CreateDataset', () =>
  codecs().then(({ CreateDataset }) => CreateDataset),
);

export interface RemoveDatasetRequest {
  readonly dataset: DatasetRef;
}

export interface RemoveDatasetResponse {
  readonly removed: boolean;
}

export interface GetPublicKeysResponse {
  /** Ed25519 JSON Web Keys of RFC 8037, as JSON text each; the newest first. */
  readonly jwks: readonly string[];
}

/** The keys that verify principal tokens. */
export const getPublicKeys = defineMethod<Record<string, never>, GetPublicKeysResponse>('auth.GetPublicKeys', () =>
  codecs().then(({ GetPublicKeys }) => GetPublicKeys),
);

export interface SetQuotaRequest {
  readonly tenant: TenantId;
  /** Kinds that are missing have the server's default. */
  readonly limits: BudgetLimits;
}

/** Gives a tenant its budget, in place of the one it had. `TenantNotFoundError`. */
export const setQuota = defineMethod<SetQuotaRequest, Record<string, never>>('auth.SetQuota', () =>
  codecs().then(({ SetQuota }) => SetQuota),
);

export interface UsageRequest {
  readonly tenant: TenantId;
}

export interface UsageResponse {
  /** One for each kind; `limit` null where none is in force. */
  readonly usage: readonly {
    readonly kind: BudgetKind;
    readonly used: number;
    readonly limit: number | null;
    readonly warnsOnly: boolean;
  }[];
}

/** What a tenant may use, and what it uses. `TenantNotFoundError`. */
export const usage = defineMethod<UsageRequest, UsageResponse>('auth.Usage', () => codecs().then(({ Usage }) => Usage));

/** Removes the registry entry and its grants; the last step of erasing a dataset. */
export const removeDataset = defineMethod<RemoveDatasetRequest, RemoveDatasetResponse>('auth.RemoveDataset', () =>
  codecs().then(({ RemoveDataset }) => RemoveDataset),
);

/** What was remembered of access is outdated: of one user or of all, of one dataset or of all. */
export interface AccessChange {
  readonly tenant: TenantId;
  readonly userId: UserId | null;
  readonly datasetId: DatasetId | null;
}

/** Changes of access, keyed by tenant; published after the change is durable. */
export const accessChanges = defineTopic<AccessChange>('access', () =>
  import('../codecs/access-changes.ts').then(({ accessChangeCodec }) => accessChangeCodec),
);

/** Subscribes to a topic that is keyed by tenant, whatever the tenant. */
export const EVERY_TENANT = '>';

/** Models or their keys were set anew: whoever has them open reads the settings again. Published after the change is durable. */
export const modelSettingsChanges = defineTopic<Record<string, never>>('settings', () =>
  import('../codecs/settings-changes.ts').then(({ modelSettingsChangedCodec }) => modelSettingsChangedCodec),
);

/** The key of the topic: there is one server. */
export const MODEL_SETTINGS = 'models';
