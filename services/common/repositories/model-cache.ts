import { createHash } from 'node:crypto';
import type { DataItemId } from '../domain/brand.ts';
import type { JsonObject } from '../domain/json.ts';
import type { DatasetScope } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
  removeWhere,
} from '../ports/document-store.ts';

/** An answer of a model about one chunk, kept so that no paid call is repeated. */
type CachedAnswer = {
  readonly model: string;
  readonly promptHash: string;
  readonly chunkHash: string;
  /** The item that paid for it; forgetting the item removes it. */
  readonly item: string;
  readonly answer: JsonObject;
  readonly createdAt: string;
};

export const modelCacheCollection: Collection<CachedAnswer> = {
  name: 'model_cache',
  level: 'dataset',
  indexes: [{ fields: ['item'] }],
};

export interface ModelCacheKey {
  readonly model: string;
  /** SHA-256 of everything that shapes the answer besides model and chunk: instruction, schema, extractor version. */
  readonly promptHash: string;
  /** SHA-256 of the chunk's text, hex. */
  readonly chunkHash: string;
}

/** Answers never leave their dataset: another dataset with the same text asks again. */
export interface ModelCache {
  get(scope: DatasetScope, key: ModelCacheKey): Promise<JsonObject | null>;
  /** Of two workers with the same answer the first one's stays. */
  put(scope: DatasetScope, key: ModelCacheKey, entry: NewCachedAnswer): Promise<void>;
  /** Removes the answers the items paid for, all of the dataset without `items`. Returns how many went. */
  remove(scope: DatasetScope, items?: readonly DataItemId[]): Promise<number>;
  count(scope: DatasetScope, items?: readonly DataItemId[]): Promise<number>;
}

export interface NewCachedAnswer {
  readonly item: DataItemId;
  readonly answer: JsonObject;
  /** ISO-8601. */
  readonly at: string;
}

export function createModelCache(store: DocumentStore): ModelCache {
  const where = (items: readonly DataItemId[] | undefined) => (items === undefined ? {} : { item: { in: [...items] } });
  return {
    async get(scope, key) {
      const stored = await store.get(scope, modelCacheCollection, cacheId(scope, key));
      return stored?.value.answer ?? null;
    },
    async put(scope, key, { item, answer, at }) {
      try {
        const { model, promptHash, chunkHash } = key;
        const value = { model, promptHash, chunkHash, item, answer, createdAt: at };
        await store.commit(scope, [insert(modelCacheCollection, cacheId(scope, key), value)]);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    },
    async remove(scope, items) {
      const [result] = await store.commit(scope, [removeWhere(modelCacheCollection, where(items))]);
      return result?.changed ?? 0;
    },
    count: (scope, items) => store.count(scope, modelCacheCollection, where(items)),
  };
}

function cacheId(scope: DatasetScope, { model, promptHash, chunkHash }: ModelCacheKey): string {
  return createHash('sha256')
    .update(JSON.stringify([scope.tenant, scope.dataset, model, promptHash, chunkHash]))
    .digest('hex');
}
