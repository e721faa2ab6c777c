import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { rejection } from '../../../test/support/refusal-of.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { linearRandom } from '../../common/kernel/random.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import {
  createSupersessions,
  supersessionRevertsCollection,
  supersessionsCollection,
} from '../../common/records/cognify/supersessions.ts';
import { insert } from '../../common/storage/ports/document-store.ts';
import { supersessionsAhead } from './read-ahead.ts';

const SCOPE = datasetScope(asId<TenantId>('t'), asId<DatasetId>('d'));
const OTHER = datasetScope(asId<TenantId>('t'), asId<DatasetId>('other'));

describe('supersessions that are read ahead', () => {
  const random = linearRandom(3);
  const oneOf = (name: string, count: number) => `${name}${Math.floor(count * random())}`;
  /** A store with so many supersessions of few chunks and items, of which some were reverted. */
  const storeWith = async (count: number) => {
    const store = createMemoryDocumentStore();
    await store.prepare([supersessionsCollection, supersessionRevertsCollection]);
    const side = () => ({ text: oneOf('t', 9), value: '', generation: 1, at: '', from: '', support: 1 });
    for (let at = 0; at < count; at += 1) {
      const places = { olderItem: oneOf('i', 5), olderChunk: oneOf('c', 12), newerItem: oneOf('i', 5) };
      const statement = { key: '', subject: '', predicate: '', reason: 'newer' as never, older: side(), newer: side() };
      const document = { ...statement, ...places, newerChunk: oneOf('c', 12), detectedAt: '' };
      await store.commit(SCOPE, [insert(supersessionsCollection, `${random()}`, document)]);
    }
    const { items } = await store.find(SCOPE, supersessionsCollection, { limit: 3 });
    for (const { id } of items)
      await store.commit(SCOPE, [insert(supersessionRevertsCollection, id, { userId: 'u', at: '', olderItem: '' })]);
    return store;
  };

  it('are those that each step would ask for, in the same order, few or many', async () => {
    for (const count of [0, 40, 230]) {
      const asked = createSupersessions(await storeWith(count));
      const ahead = supersessionsAhead(asked, [
        { scope: SCOPE, hasAny: count > 0 },
        { scope: OTHER, hasAny: true },
      ]);
      for (let round = 0; round < 20; round += 1) {
        const chunks = [...new Set(Array.from({ length: round }, () => oneOf('c', 14)))];
        expect(await ahead.ofChunks(SCOPE, chunks)).to.deep.equal(await asked.ofChunks(SCOPE, chunks));
        const items = [...new Set(Array.from({ length: round % 5 }, () => oneOf('i', 6)))];
        expect(await ahead.ofOlderItems(SCOPE, items)).to.deep.equal(await asked.ofOlderItems(SCOPE, items));
      }
      expect(await ahead.ofChunks(OTHER, ['c1'])).to.deep.equal([]);
    }
  });

  it('take one read of a dataset that has any, whatever the steps of a search', async () => {
    const store = await storeWith(10);
    let finds = 0;
    const counting = {
      ...store,
      find: ((...query: Parameters<typeof store.find>) => {
        finds += 1;
        return store.find(...query);
      }) as typeof store.find,
    };
    const ahead = supersessionsAhead(createSupersessions(counting), [{ scope: SCOPE, hasAny: true }]);
    for (const chunk of ['c1', 'c2', 'c3']) await ahead.ofChunks(SCOPE, [chunk]);
    await ahead.ofOlderItems(SCOPE, ['i1']);
    expect(finds).to.equal(1);
    const without = supersessionsAhead(createSupersessions(counting), [{ scope: SCOPE, hasAny: false }]);
    expect(await without.ofChunks(SCOPE, ['c1'])).to.deep.equal([]);
    expect(finds).to.equal(1);
  });

  it('fail at the step that needs them, and only there', async () => {
    const store = await storeWith(0);
    const find = () => Promise.reject(new Error('away'));
    const ahead = supersessionsAhead(createSupersessions({ ...store, find }), [{ scope: SCOPE, hasAny: true }]);
    await new Promise((over) => setImmediate(over));
    expect((await rejection(ahead.ofChunks(SCOPE, ['c1']))).message).to.equal('away');
  });
});
