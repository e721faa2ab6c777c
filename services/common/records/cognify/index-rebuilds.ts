import { engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import { type DatasetScope, datasetScope, type SystemScope } from '../../kernel/scope.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { type DocumentStore, remove, update } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put } from '../base/repository.ts';
import { ledgerCollection } from './ledger.ts';

type IndexRebuild = {
  /** ISO-8601. */
  readonly lostAt: string;
  /** Items whose rows were lost. */
  readonly lost: number;
  /** Items that were built when the loss was noticed and are still whole. */
  readonly intact: number;
  /** The run that builds them; null: none was started yet, or the last one failed. */
  readonly runId: string | null;
  readonly failures: number;
  readonly retryAtMs: number;
};

/** Datasets whose index was lost, in part or as a whole, until what it held is built again. */
export const indexRebuildsCollection: OwnedCollection<IndexRebuild> = {
  name: 'index_rebuilds',
  level: 'dataset',
  owner: 'cognify',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  isMemory: true,
  indexes: [],
};

export interface StoredRebuild {
  readonly scope: DatasetScope;
  readonly rebuild: IndexRebuild;
}

/** Throws `ServiceUnavailableError` while the index of the dataset is rebuilt. */
export async function requireWholeIndex(store: DocumentStore, scope: DatasetScope): Promise<void> {
  const rebuild = await createIndexRebuilds(store).get(scope);
  if (rebuild === null) return;
  const built = await store.count(scope, ledgerCollection, { generation: { greaterThan: 0 } });
  const done = Math.min(rebuild.lost, Math.max(0, built - rebuild.intact));
  throw engramError(
    'ServiceUnavailableError',
    `The index of the dataset was lost and is being rebuilt from what was added: ${done} of ${rebuild.lost} items are ` +
      'done. Try again later',
    { retryable: true },
  );
}

const ID = 'index';
const PAGE = 500;

export function createIndexRebuilds(store: DocumentStore) {
  const collection = indexRebuildsCollection;
  const get = async (scope: DatasetScope) => (await store.get(scope, collection, ID))?.value ?? null;
  return {
    get,
    /** Names of the datasets concerned, at most 500. */
    async all(scope: SystemScope): Promise<readonly StoredRebuild[]> {
      const { items } = await store.find(scope, collection, { limit: PAGE });
      return items.map(({ tenant, dataset, value }) => ({
        scope: datasetScope(asId(tenant ?? ''), asId(dataset ?? '')),
        rebuild: value,
      }));
    },
    /** A loss that is noticed while an earlier one is rebuilt takes its place. */
    put: (scope: DatasetScope, rebuild: IndexRebuild) =>
      retryOnConflict(async () => {
        const before = await store.get(scope, collection, ID);
        await store.commit(scope, [put(collection, ID, rebuild, before)]);
      }),
    async change(scope: DatasetScope, change: Partial<IndexRebuild>): Promise<void> {
      await store.commit(scope, [update(collection, ID, { set: change })]);
    },
    async remove(scope: DatasetScope): Promise<void> {
      await store.commit(scope, [remove(collection, ID)]);
    },
  };
}
