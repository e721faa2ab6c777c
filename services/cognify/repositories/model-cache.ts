import type { DataItemId } from '../../common/kernel/brand.ts';
import { sha256OfJson } from '../../common/kernel/hashes.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, removeWhere } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** An answer of a model about one chunk, cached so that no call is paid twice. */
type CachedAnswer = {
  readonly model: string;
  /** Hash of model, prompt and chunk: the lookup key. */
  readonly question: string;
  readonly contextHash: string;
  /** The item that paid for it; forgetting the item removes it. */
  readonly item: string;
  readonly answer: JsonObject;
  readonly createdAt: string;
};

export const modelCacheCollection: OwnedCollection<CachedAnswer> = {
  name: 'model_cache',
  level: 'dataset',
  owner: 'cognify',
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['item'] }, { fields: ['question'] }],
};

export interface ModelCacheKey {
  readonly model: string;
  /** SHA-256 of everything that shapes the answer besides model and chunk: instruction, schema, headings. */
  readonly promptHash: string;
  /** SHA-256 of the chunk's text without the white space at its end, hex. */
  readonly chunkHash: string;
  /** SHA-256 of the context of the chunk in the prompt: title and known names. */
  readonly contextHash: string;
  readonly item: DataItemId;
}

/** Limit of answers read for one question: there is one per item and context. */
const MAX_ANSWERS = 100;

export type ModelCache = ReturnType<typeof createModelCache>;

/** Cache of model answers. Answers are never shared between datasets. */
export function createModelCache(store: DocumentStore) {
  const where = (items: readonly DataItemId[] | undefined) => (items === undefined ? {} : { item: { in: [...items] } });
  return {
    /**
     * Returns the item's own answer about the chunk, in any context: an edit elsewhere in the document costs nothing. Else the
     * answer of another item in exactly the same context, so that no names of its document get into this one.
     */
    async get(scope: DatasetScope, key: ModelCacheKey): Promise<JsonObject | null> {
      const exact = await store.get(scope, modelCacheCollection, cacheId(scope, key));
      if (exact !== null) return exact.value.answer;
      const query = { where: { question: questionOf(key) }, limit: MAX_ANSWERS };
      const answers = (await store.find(scope, modelCacheCollection, query)).items.map(({ value }) => value);
      const found =
        answers.find(({ item }) => item === key.item) ??
        answers.find(({ contextHash }) => contextHash === key.contextHash);
      return found?.answer ?? null;
    },
    /** Stores an answer; of two workers with the same key the first one wins. `at`: ISO-8601. */
    async put(scope: DatasetScope, key: ModelCacheKey, answer: JsonObject, at: string): Promise<void> {
      const { model, contextHash, item } = key;
      const value = { model, question: questionOf(key), contextHash, item, answer, createdAt: at };
      await ignoreDuplicate(store.commit(scope, [insert(modelCacheCollection, cacheId(scope, key), value)]));
    },
    /** Removes the answers of these items, or all of the dataset. Returns how many were removed. */
    async remove(scope: DatasetScope, items?: readonly DataItemId[]): Promise<number> {
      const [result] = await store.commit(scope, [removeWhere(modelCacheCollection, where(items))]);
      return result?.changed ?? 0;
    },
    count: (scope: DatasetScope, items?: readonly DataItemId[]) =>
      store.count(scope, modelCacheCollection, where(items)),
  };
}

function questionOf({ model, promptHash, chunkHash }: ModelCacheKey): string {
  return sha256OfJson([model, promptHash, chunkHash]);
}

function cacheId(scope: DatasetScope, key: ModelCacheKey): string {
  return sha256OfJson([scope.tenant, scope.dataset, questionOf(key), key.contextHash, key.item]);
}
