import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { type AnyCollection, type DocumentStore, insert, type Write } from '../../storage/ports/document-store.ts';
import { eraseCollections } from './erase-collections.ts';

const things = (name: string): AnyCollection => ({ name, level: 'dataset', indexes: [] });
const collections = ['first', 'second', 'third', 'fourth', 'fifth'].map(things);
const scope = datasetScope(asId<TenantId>('tenant'), asId<DatasetId>('gone'));
const other = datasetScope(asId<TenantId>('tenant'), asId<DatasetId>('stays'));

/** A store that holds so many documents in each of the collections, and what it was asked. */
async function storeWith(counts: readonly number[]) {
  const memory = createMemoryDocumentStore();
  await memory.prepare(collections);
  for (const [at, count] of counts.entries()) {
    const collection = collections[at] as AnyCollection;
    const ids = Array.from({ length: count }, (_, index) => `${index}`);
    for (const slice of slices(ids, 500)) {
      const writes = slice.map((id) => insert(collection, id, {}));
      for (const each of [scope, other]) await memory.commit(each, writes);
    }
  }
  const asked: string[] = [];
  const store: DocumentStore = {
    ...memory,
    countEach(...call) {
      asked.push('count');
      return memory.countEach(...call);
    },
    async commit(where, writes) {
      const results = await memory.commit(where, writes);
      asked.push(writes.map(({ collection }: Write) => collection.name).join('+'));
      return results;
    },
  };
  return { store, asked, memory };
}

describe('erasing the collections of a dataset', () => {
  it('takes one look where there is nothing', async () => {
    const { store, asked } = await storeWith([]);
    expect(await eraseCollections(store, scope, collections)).to.deep.equal({ removed: 0, left: 0 });
    expect(asked).to.deep.equal(['count']);
  });

  it('empties what is small by one commit, what is great by itself, and touches no other dataset', async () => {
    const { store, asked, memory } = await storeWith([3, 0, 1500, 900, 50]);
    expect(await eraseCollections(store, scope, collections)).to.deep.equal({ removed: 2453, left: 0 });
    expect(asked).to.deep.equal(['count', 'first', 'third', 'fourth+fifth', 'count']);
    expect(await memory.countEach(other, collections)).to.deep.equal([3, 0, 1500, 900, 50]);
  });

  it('goes on where it was cut off, wherever that was', async () => {
    for (let cutAt = 0; ; cutAt += 1) {
      const { store, asked } = await storeWith([3, 5, 1500, 900, 1200]);
      const { commit } = store;
      const cut: DocumentStore = {
        ...store,
        commit: async (...call) => {
          if (asked.length > cutAt) throw new Error('killed');
          return commit(...call);
        },
      };
      const outcome = await eraseCollections(cut, scope, collections).catch(() => null);
      expect(await eraseCollections(store, scope, collections)).to.include({ left: 0 });
      if (outcome !== null) break;
    }
  });

  it('removes documents that come meanwhile, and returns how many are left when that does not end', async () => {
    const { store, memory } = await storeWith([3]);
    let late = 0;
    const written: DocumentStore = {
      ...store,
      async commit(where, writes) {
        const results = await store.commit(where, writes);
        if (late < 2) await memory.commit(scope, [insert(collections[1] as AnyCollection, `late ${late}`, {})]);
        late += 1;
        return results;
      },
    };
    expect(await eraseCollections(written, scope, collections)).to.deep.equal({ removed: 5, left: 0 });
    late = Number.NEGATIVE_INFINITY;
    await memory.commit(scope, [insert(collections[0] as AnyCollection, 'again', {})]);
    expect((await eraseCollections(written, scope, collections)).left).to.equal(1);
  });
});
