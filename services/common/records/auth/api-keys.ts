import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import type { Permission, PresentedKey } from '../../kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type ApiKeyDocument = Omit<ApiKey, 'id' | 'tenant'> & {
  /** Present in keys of tenants alone. */
  readonly tenantId?: TenantId | null;
};

export const apiKeysCollection: OwnedCollection<ApiKeyDocument> = {
  name: 'api_keys',
  level: 'system',
  owner: 'auth',
  readers: ['ingest'],
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [{ fields: ['hash'], unique: true }, { fields: ['userId', 'createdAt'] }, { fields: ['tenantId'] }],
};

export interface ApiKey {
  readonly id: string;
  /** Tenant of a tenant's key: the key has no user, and acts as the owner that the tenant has when it is used. */
  readonly userId: UserId;
  /** Lower-case hex SHA-256 of the key. The key has 256 random bits, so a slow hash would add nothing. */
  readonly hash: string;
  /** First eight characters of the key, to tell keys apart. */
  readonly prefix: string;
  /** Programs give it, and replace the key of their name at the limit. */
  readonly name: string | null;
  /** Note of the owner. */
  readonly label: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Expiry; null: it does not expire. */
  readonly expiresAt: string | null;
  /** Null: whatever its user may. Never empty. */
  readonly permissions: readonly Permission[] | null;
  readonly datasets: readonly DatasetId[] | null;
  /** A tenant's own key: it acts there and nowhere else. Null: a user's. */
  readonly tenant: TenantId | null;
}

export function createApiKeys(store: DocumentStore) {
  const records = repository(store, apiKeysCollection, apiKeyOf);
  const ofUsers = (users: readonly UserId[]) =>
    records.allOf(SYSTEM_SCOPE, users, (some) => ({
      where: { userId: { in: some } },
      sort: [{ field: 'userId' }, { field: 'createdAt' }],
    }));
  return {
    get: (id: string) => records.get(SYSTEM_SCOPE, id),
    findByHash: (hash: string) => records.first(SYSTEM_SCOPE, { where: { hash } }),
    /** Oldest first. */
    ofUser: (user: UserId) => ofUsers([user]),
    /** Keys of the users, oldest first per user. */
    ofUsers,
    /** The tenant's own, in no order. */
    ofTenant: (tenant: TenantId) => records.all(SYSTEM_SCOPE, { where: { tenantId: tenant } }),
    insertWrite: ({ id, tenant, ...document }: ApiKey) =>
      records.insertWrite(id, { ...document, ...(tenant === null ? {} : { tenantId: tenant }) }),
    removeWrite: (id: string) => records.removeWrite(id),
    removeAllWrite: (user: UserId) => records.removeWhereWrite({ userId: user }),
    /** Does nothing when the key does not exist any more, or when another request noted a use since it was read. */
    async touch({ id, lastUsedAt }: ApiKey, at: string): Promise<void> {
      const change = { where: { lastUsedAt }, set: { lastUsedAt: at } };
      await store.commit(SYSTEM_SCOPE, [records.updateWrite(id, change)]);
    },
  };
}

/** Returns the key as a principal carries it. */
export function presentedKey({ id, permissions, datasets, tenant }: ApiKey): PresentedKey {
  return { id, permissions, datasets, ...(tenant === null ? {} : { tenant }) };
}

export function hasExpired({ expiresAt }: ApiKey, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

/** The oldest keys lack these fields. */
const UNLIMITED = { label: null, expiresAt: null, permissions: null, datasets: null };

function apiKeyOf({ id, value: { tenantId: tenant = null, ...rest } }: Stored<ApiKeyDocument>): ApiKey {
  return { ...UNLIMITED, ...rest, id, tenant };
}
