import type { TenantId } from '../../common/kernel/brand.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  replace,
  type Write,
} from '../../common/storage/ports/document-store.ts';

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

export const tenantEmbeddersCollection: Collection<TenantEmbedders> = {
  name: 'tenant_embedders',
  level: 'tenant',
  indexes: [],
};

export interface StoredTenantEmbedders extends TenantEmbedders {
  /** Of the document, for the writes. */
  readonly version: number;
}

export interface TenantEmbedderAccounts {
  /** Null: the tenant never had one of its own. */
  get(tenant: TenantId): Promise<StoredTenantEmbedders | null>;
  /**
   * Under the scope of the tenant. `DuplicateKeyError` or `VersionConflictError` in the commit when it changed since `before`
   * was read.
   */
  putWrite(next: TenantEmbedders, before: StoredTenantEmbedders | null): Write;
}

/** One for each tenant. */
const ID = 'embedding';

export function createTenantEmbedders(store: DocumentStore): TenantEmbedderAccounts {
  return {
    async get(tenant) {
      const stored = await store.get({ tenant }, tenantEmbeddersCollection, ID);
      return stored === null ? null : { ...stored.value, version: stored.version };
    },
    putWrite: (next, before) =>
      before === null
        ? insert(tenantEmbeddersCollection, ID, next)
        : replace(tenantEmbeddersCollection, ID, next, before.version),
  };
}

/** What a sealed key is bound to: the key of one tenant does not open as that of another. */
export function embedderKeyPlace(tenant: TenantId): SecretPlace {
  return { collection: tenantEmbeddersCollection.name, id: tenant, field: 'key' };
}
