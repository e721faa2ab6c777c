import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { createMemoryDatasetIndexes } from '../../../../test/support/memory/indexes/memory-dataset-indexes.ts';
import { asId } from '../../kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT } from '../../kernel/scope.ts';
import { createSystemClock } from '../../platform/system/clock.ts';
import type { VectorEntry } from '../../storage/ports/vector-index.ts';
import { recordCollections } from '../collections.ts';
import { activeHome, createVectorHomes } from './vector-homes.ts';

const scope: DatasetScope = datasetScope(PERSONAL_TENANT, asId('dataset'));
const OLD = { model: 'test/old', dimensions: 2 };
const NEW = { model: 'test/new', dimensions: 2 };
const ITEM = asId<VectorEntry['item']>('item');

function rowOf(x: number, y: number): VectorEntry {
  return { kind: 'chunk', id: 'row', item: ITEM, generation: 1, nodeSets: [], vector: Float32Array.of(x, y) };
}

describe('homes of vectors', () => {
  async function world() {
    const store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    const { vectors } = createMemoryDatasetIndexes();
    return { store, vectors, homes: createVectorHomes({ store, vectors, clock: createSystemClock() }) };
  }

  /** The vectors are in home 1 now; home 0 has been dropped. */
  async function moved() {
    const parts = await world();
    const { homes, vectors } = parts;
    await vectors.upsert(homes.scopeOf(scope, 1), NEW, [rowOf(0, 1)]);
    await homes.update(scope, () => ({ active: 1, last: 1 }));
    return parts;
  }

  it('lets whoever read that a home is active read that one to the end, also when another is active since', async () => {
    const { homes, vectors } = await world();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    const { scope: home } = await homes.active(scope);
    await vectors.upsert(homes.scopeOf(scope, 1), NEW, [rowOf(0, 1)]);
    await homes.update(scope, () => ({ active: 1, last: 1 }));
    const query = { kind: 'chunk', vector: Float32Array.of(1, 0), limit: 1 } as const;
    expect((await homes.inHomes.nearest(home, query))[0]?.similarity).to.be.closeTo(1, 1e-3);
    const [found] = await homes.inHomes.fetch(home, 'chunk', ['row']);
    expect([...(found?.vector ?? [])]).to.deep.equal([1, 0]);
  });

  it('keeps what is written for a home out of the one that is active since', async () => {
    const { homes, vectors } = await moved();
    await homes.inHomes.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await vectors.count(homes.scopeOf(scope, 1), {})).to.equal(1);
    expect(await vectors.space(homes.scopeOf(scope, 1))).to.deep.equal(NEW);
  });

  it('removes a home that was written into after it had been left', async () => {
    const { homes, vectors } = await moved();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await homes.written(scope, 0)).to.equal(1);
    expect(await vectors.count(scope, {})).to.equal(0);
    expect(await homes.written(scope, 1)).to.equal(1);
    expect(await vectors.count(homes.scopeOf(scope, 1), {})).to.equal(1);
  });

  it('finds and removes with an item and with the dataset what a dead process left in a former home', async () => {
    const { homes, vectors } = await moved();
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    expect(await homes.vectors.count(scope, {})).to.equal(2);
    expect(await homes.vectors.remove(scope, { item: ITEM })).to.equal(2);
    expect(await vectors.count(scope, {})).to.equal(0);
    await vectors.upsert(scope, OLD, [rowOf(1, 0)]);
    await homes.vectors.drop(scope);
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
    const home = activeHome({ store: slow as Pick<typeof store, 'get'>, vectors: seen }, scope);
    expect(asked.sort()).to.deep.equal(['store', 'vectors']);
    answer();
    expect(await home).to.deep.include({ number: 0, space: OLD });
    expect(asked).to.have.length(2);
  });
});
