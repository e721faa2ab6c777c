import { expect } from 'chai';
import { createMemoryDatasetIndexes } from '../../../../test/support/memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { asId } from '../../kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT } from '../../kernel/scope.ts';
import { createSystemClock } from '../../platform/system/clock.ts';
import type { VectorEntry } from '../../storage/ports/vector-index.ts';
import { recordCollections } from '../collections.ts';
import { activeVectorVersion, createVectorIndexVersions } from './vector-index-versions.ts';

const scope: DatasetScope = datasetScope(PERSONAL_TENANT, asId('dataset'));
const OLD = { model: 'test/old', dimensions: 2 };
const NEW = { model: 'test/new', dimensions: 2 };
const ITEM = asId<VectorEntry['item']>('item');

function rowOf(x: number, y: number): VectorEntry {
  return { kind: 'chunk', id: 'row', item: ITEM, generation: 1, nodeSets: [], vector: Float32Array.of(x, y) };
}

describe('vectorVersions of vectors', () => {
  async function world() {
    const store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    const { vectors } = createMemoryDatasetIndexes();
    return {
      store,
      vectors,
      vectorVersions: createVectorIndexVersions({ store, vectors, clock: createSystemClock() }),
    };
  }

  /** The vectors are in index version 1 now; index version 0 has been dropped. */
  async function moved() {
    const parts = await world();
    const { vectorVersions, vectors } = parts;
    await vectors.upsert(vectorVersions.scopeOf(scope, 1), NEW, [rowOf(0, 1)]);
    await vectorVersions.update(scope, () => ({ active: 1, last: 1 }));
    return parts;
  }

  it('lets a reader of the active version read it to the end, also after another was activated', async () => {
    const { vectorVersions, vectors } = await world();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    const { scope: home } = await vectorVersions.active(scope);
    await vectors.upsert(vectorVersions.scopeOf(scope, 1), NEW, [rowOf(0, 1)]);
    await vectorVersions.update(scope, () => ({ active: 1, last: 1 }));
    const query = { kind: 'chunk', vector: Float32Array.of(1, 0), limit: 1 } as const;
    expect((await vectorVersions.inVersions.nearest(home, query))[0]?.similarity).to.be.closeTo(1, 1e-3);
    const [found] = await vectorVersions.inVersions.fetch(home, 'chunk', ['row']);
    expect([...(found?.vector ?? [])]).to.deep.equal([1, 0]);
  });

  it('keeps rows that were written for a version out of the version that was activated since', async () => {
    const { vectorVersions, vectors } = await moved();
    await vectorVersions.inVersions.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await vectors.count(vectorVersions.scopeOf(scope, 1), {})).to.equal(1);
    expect(await vectors.space(vectorVersions.scopeOf(scope, 1))).to.deep.equal(NEW);
  });

  it('removes a home that was written into after it had been left', async () => {
    const { vectorVersions, vectors } = await moved();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await vectorVersions.written(scope, 0)).to.equal(1);
    expect(await vectors.count(scope, {})).to.equal(0);
    expect(await vectorVersions.written(scope, 1)).to.equal(1);
    expect(await vectors.count(vectorVersions.scopeOf(scope, 1), {})).to.equal(1);
  });

  it('finds and removes with an item and with the dataset what a dead process left in a former version', async () => {
    const { vectorVersions, vectors } = await moved();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await vectorVersions.vectors.count(scope, {})).to.equal(2);
    expect(await vectorVersions.vectors.remove(scope, { item: ITEM })).to.equal(2);
    expect(await vectors.count(scope, {})).to.equal(0);
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    await vectorVersions.vectors.drop(scope);
    expect(await vectors.count(scope, {})).to.equal(0);
    expect(await vectors.space(scope)).to.equal(null);
  });

  it('asks the stores of a dataset that never moved at the same time', async () => {
    const { store, vectors } = await world();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    const asked: string[] = [];
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = {
      get: async (...query: Parameters<typeof store.get>) => {
        asked.push('store');
        await answered;
        return store.get(...query);
      },
    };
    const seen = {
      space: async (of: DatasetScope) => {
        asked.push('vectors');
        return vectors.space(of);
      },
    };
    const home = activeVectorVersion({ store: slow as Pick<typeof store, 'get'>, vectors: seen }, scope);
    expect(asked.sort()).to.deep.equal(['store', 'vectors']);
    answer();
    expect(await home).to.deep.include({ number: 0, space: OLD });
    expect(asked).to.have.length(2);
  });
});
