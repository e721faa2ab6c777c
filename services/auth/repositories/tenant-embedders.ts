import type { TenantId } from '../../common/kernel/brand.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import { repository, withVersion } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** An embedding model on a tenant's own account with a provider. */
export type EmbeddingAccount = {
  /** `builtin`: the server's own hashing, which needs no account. */
  readonly provider: string;
  readonly model: string;
  readonly dimensions: number;
  /** Null: the provider's own. */
  readonly endpoint: string | null;
  /** By the `SecretBox`, for `embedderKeyPlace`; null: it needs none. */
  readonly sealedKey: string | null;
  /** Lower-case hex SHA-256 of the key, which is random: tells whether another one is given. */
  readonly keySha256: string | null;
};

export type TenantEmbedders = {
  /** Another with every change. */
  readonly revision: string;
  /** Null: the server's. */
  readonly current: EmbeddingAccount | null;
  /** Accounts of before, newest first: vectors that were made with them are searched until they have been made anew. */
  readonly former: readonly EmbeddingAccount[];
  readonly changedAt: string;
};

export const tenantEmbeddersCollection: OwnedCollection<TenantEmbedders> = {
  name: 'tenant_embedders',
  level: 'tenant',
  owner: 'auth',
  belongsTo: { tenant: 'scope' },
  indexes: [],
};

export interface StoredTenantEmbedders extends TenantEmbedders {
  /** Of the document, for the writes. */
  readonly version: number;
}

/** One for each tenant. */
const ID = 'embedding';

export type TenantEmbedderAccounts = ReturnType<typeof createTenantEmbedders>;

export function createTenantEmbedders(store: DocumentStore) {
  const records = repository(store, tenantEmbeddersCollection, withVersion);
  return {
    /** Null: the tenant never had one of its own. */
    get: (tenant: TenantId) => records.get({ tenant }, ID),
    /**
     * Under the scope of the tenant. `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before`
     * was read.
     */
    putWrite: (next: TenantEmbedders, before: StoredTenantEmbedders | null) => records.putWrite(ID, next, before),
  };
}

/** What a sealed key is bound to: the key of one tenant does not open as that of another. */
export function embedderKeyPlace(tenant: TenantId): SecretPlace {
  return { collection: tenantEmbeddersCollection.name, id: tenant, field: 'key' };
}
