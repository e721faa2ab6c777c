import type { DatasetRef } from '../../domain/dataset.ts';
import type { Permission, Principal } from '../../domain/principal.ts';
import { defineMethod } from '../method.ts';

/** Credentials in the order they are tried; the first that belongs to an active user wins. */
export interface Credential {
  readonly kind: 'api-key' | 'bearer' | 'cookie';
  readonly value: string;
}

/** Principal, or null when no credential was accepted and the posture demands one. Open mode answers the default user. */
export const authenticate = defineMethod<
  { readonly credentials: readonly Credential[]; readonly strict?: boolean },
  { readonly principal: Principal | null; readonly required: boolean; readonly posture: string }
>('auth', 'Authenticate');

/** A job is authorised again when it is claimed: null when the user is gone or inactive. */
export const getPrincipal = defineMethod<
  { readonly userId: string; readonly tenant: string },
  { readonly principal: Principal | null }
>('auth', 'GetPrincipal');

/**
 * Datasets a request names, all of them with `permission`, in request order, each once. `ids` win over `names`; an empty
 * `ids` counts as absent, an empty `names` is `DatasetNotFoundError`. Neither given means every dataset of the principal
 * with that permission, oldest first, perhaps none (`nothingPermitted` in domain/permissions.ts is the error of routes that
 * need one). Names resolve among datasets the principal owns in the current
 * tenant. Errors: `PermissionDeniedError` for an id that is missing or not permitted (alike), `DatasetNotFoundError` for an
 * unknown name unless `createMissing`, `InvalidDatasetNameError` (blank or dot in a name to be created).
 */
export const resolveDatasets = defineMethod<
  {
    readonly principal: Principal;
    readonly permission: Permission;
    readonly ids?: readonly string[];
    readonly names?: readonly string[];
    readonly createMissing?: boolean;
    /** `forget` alone: names resolve among all datasets with the permission. */
    readonly namesAmongPermitted?: boolean;
  },
  { readonly datasets: readonly DatasetRef[] }
>('auth', 'ResolveDatasets');

/** Makes the dataset with all four grants for its owner (and the owner's parent), or answers the existing one. */
export const createDataset = defineMethod<
  { readonly principal: Principal; readonly name: string },
  { readonly dataset: DatasetRef }
>('auth', 'CreateDataset');

/** Removes the registry entry and its grants; the last step of erasing a dataset. */
export const removeDataset = defineMethod<{ readonly dataset: DatasetRef }, { readonly removed: boolean }>(
  'auth',
  'RemoveDataset',
);
