import type { TenantId } from '../../common/kernel/brand.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import { repository, withVersion } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A language model of a tenant's own, on the tenant's account with a provider. */
export type TenantLanguageModel = {
  /** Another with every change. */
  readonly revision: string;
  readonly provider: string;
  readonly model: string;
  /** Null: the provider's own. */
  readonly endpoint: string | null;
  /** By the `SecretBox`, for `tenantKeyPlace`; null: it needs none. */
  readonly sealedKey: string | null;
  /** Lower-case hex SHA-256 of the key, which is random: tells whether another one is given. */
  readonly keySha256: string | null;
  readonly changedAt: string;
};

export const tenantModelsCollection: OwnedCollection<TenantLanguageModel> = {
  name: 'tenant_models',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { tenant: 'scope' },
  indexes: [],
};

export interface StoredTenantModel extends TenantLanguageModel {
  /** Of the document, for the writes. */
  readonly version: number;
}

/** One for each tenant. */
const ID = 'language';

export type TenantModels = ReturnType<typeof createTenantModels>;

export function createTenantModels(store: DocumentStore) {
  const records = repository(store, tenantModelsCollection, withVersion);
  return {
    /** Null: the tenant uses the server's. */
    get: (tenant: TenantId) => records.get({ tenant }, ID),
    /**
     * Under the scope of the tenant. `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before`
     * was read.
     */
    putWrite: (model: TenantLanguageModel, before: StoredTenantModel | null) => records.putWrite(ID, model, before),
    removeWrite: ({ version }: StoredTenantModel) => records.removeWrite(ID, version),
  };
}

/** What a sealed key is bound to: the key of one tenant does not open as that of another. */
export function tenantKeyPlace(tenant: TenantId): SecretPlace {
  return { collection: tenantModelsCollection.name, id: tenant, field: 'key' };
}
