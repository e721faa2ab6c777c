import type { UserId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import { SYSTEM_SCOPE } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  type Stored,
  update,
  type Write,
} from '../ports/document-store.ts';
import { findAll } from './find-all.ts';

type ApiKeyDocument = {
  readonly userId: string;
  /** Lower-case hex SHA-256 of the key. The key has 256 random bits, so a slow hash would add nothing. */
  readonly hash: string;
  /** First eight characters of the key, to tell keys apart. */
  readonly prefix: string;
  readonly name: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

export const apiKeysCollection: Collection<ApiKeyDocument> = {
  name: 'api_keys',
  level: 'system',
  indexes: [{ fields: ['hash'], unique: true }, { fields: ['userId', 'createdAt'] }],
};

export interface ApiKey {
  readonly id: string;
  readonly userId: UserId;
  readonly hash: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface ApiKeys {
  get(id: string): Promise<ApiKey | null>;
  findByHash(hash: string): Promise<ApiKey | null>;
  /** Oldest first. */
  ofUser(user: UserId): Promise<readonly ApiKey[]>;
  insertWrite(key: ApiKey): Write;
  removeWrite(id: string): Write;
  removeAllWrite(user: UserId): Write;
  /** Nothing happens when the key is gone. */
  touch(id: string, at: string): Promise<void>;
}

export function createApiKeys(store: DocumentStore): ApiKeys {
  return {
    async get(id) {
      const stored = await store.get(SYSTEM_SCOPE, apiKeysCollection, id);
      return stored === null ? null : apiKeyOf(stored);
    },
    async findByHash(hash) {
      const { items } = await store.find(SYSTEM_SCOPE, apiKeysCollection, { where: { hash }, limit: 1 });
      return items[0] === undefined ? null : apiKeyOf(items[0]);
    },
    async ofUser(user) {
      const keys = await findAll(store, SYSTEM_SCOPE, apiKeysCollection, {
        where: { userId: user },
        sort: [{ field: 'createdAt' }],
      });
      return keys.map(apiKeyOf);
    },
    insertWrite: ({ id, ...document }) => insert(apiKeysCollection, id, document),
    removeWrite: (id) => remove(apiKeysCollection, id),
    removeAllWrite: (user) => removeWhere(apiKeysCollection, { userId: user }),
    async touch(id, at) {
      await store.commit(SYSTEM_SCOPE, [update(apiKeysCollection, id, { set: { lastUsedAt: at } })]);
    },
  };
}

function apiKeyOf({ id, value }: Stored<ApiKeyDocument>): ApiKey {
  return { id, ...value, userId: asId(value.userId) };
}
