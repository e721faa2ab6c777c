import type { TenantId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import { repository, withVersion } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A model on a tenant's own account with a provider. */
export type ModelAccount = {
  readonly provider: string;
  readonly model: string;
  /** Null: the provider's default. */
  readonly endpoint: string | null;
  /** Sealed by the `SecretBox` for its `SecretPlace`; null: the account needs no key. */
  readonly sealedKey: string | null;
  /** Lower-case hex SHA-256 of the key, to detect another key without opening this one. */
  readonly keySha256: string | null;
};

export type TenantLanguageModel = ModelAccount & {
  /** Changes with every change of the account. */
  readonly revision: string;
  readonly changedAt: string;
};

/** `provider` `builtin`: the server's hashing embedder, which needs no account. */
export type EmbeddingAccount = ModelAccount & { readonly dimensions: number };

type TenantEmbedders = {
  /** Changes with every change of the accounts. */
  readonly revision: string;
  /** Null: the server's. */
  readonly current: EmbeddingAccount | null;
  /** Earlier accounts, newest first: their vectors are searched until they have been embedded again. */
  readonly former: readonly EmbeddingAccount[];
  readonly changedAt: string;
};

export const tenantModelsCollection: OwnedCollection<TenantLanguageModel> = {
  name: 'tenant_models',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { tenant: 'scope' },
  indexes: [],
};

export const tenantEmbeddersCollection: OwnedCollection<TenantEmbedders> = {
  name: 'tenant_embedders',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { tenant: 'scope' },
  indexes: [],
};

/** With the version of the document, for writes. */
export type StoredTenantModel = TenantLanguageModel & { readonly version: number };
export type StoredTenantEmbedders = TenantEmbedders & { readonly version: number };

export type TenantModels = ReturnType<typeof createTenantModels>;
export type TenantEmbedderAccounts = ReturnType<typeof createTenantEmbedders>;

export function createTenantModels(store: DocumentStore) {
  return createTenantDocument(store, tenantModelsCollection, 'language');
}

export function createTenantEmbedders(store: DocumentStore) {
  return createTenantDocument(store, tenantEmbeddersCollection, 'embedding');
}

/**
 * The one document that a tenant has in the collection. Writes go under the scope of the tenant; a change since `before` was
 * read fails the commit with `DuplicateKeyError` or `VersionConflictError`.
 */
function createTenantDocument<T extends JsonObject>(store: DocumentStore, collection: OwnedCollection<T>, id: string) {
  const records = repository(store, collection, withVersion<T>);
  return {
    /** Null: the tenant has none and uses the server's model. */
    get: (tenant: TenantId) => records.get({ tenant }, id),
    putWrite: (next: T, before: { readonly version: number } | null) => records.putWrite(id, next, before),
    removeWrite: ({ version }: { readonly version: number }) => records.removeWrite(id, version),
  };
}

/** The context that a sealed key is bound to: the key of one tenant cannot be opened as that of another. */
export function tenantKeyPlace(tenant: TenantId): SecretPlace {
  return { collection: tenantModelsCollection.name, id: tenant, field: 'key' };
}

export function embedderKeyPlace(tenant: TenantId): SecretPlace {
  return { collection: tenantEmbeddersCollection.name, id: tenant, field: 'key' };
}
