import { expect } from 'chai';
import { linearRandom } from '../../services/common/kernel/random.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { VectorEntry, VectorHit, VectorIndex } from '../../services/common/storage/ports/vector-index.ts';
import { createScopes, HOSTILE_IDS, item, vectorEntry } from '../support/dataset-rows.ts';
import { rejection } from '../support/refusal-of.ts';

const SPACE = { model: 'test/model', dimensions: 3 };

/** What every `VectorIndex` must do. */
export function vectorIndexConformance(name: string, open: () => Promise<DatasetIndexes>): void {
  describe(`VectorIndex: ${name}`, () => {
    const scopes = createScopes();
    let indexes: DatasetIndexes;
    let vectors: VectorIndex;
    before(async () => {
      indexes = await open();
      vectors = indexes.vectors;
    });
    after(() => indexes.close());

    const nearestIds = async (scope: ReturnType<typeof scopes>, vector: readonly number[], more = {}) =>
      (await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.from(vector), limit: 10, ...more })).map(
        ({ id }) => id,
      );

    it('finds the most similar first with the cosine, whatever the lengths', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [
        vectorEntry('opposite', [-5, 0, 0]),
        vectorEntry('same', [0.001, 0, 0], { item: item('other'), generation: 4 }),
        vectorEntry('orthogonal', [0, 1000, 0]),
      ]);
      const hits = await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(7, 0, 0), limit: 10 });
      expect(hits).to.deep.equal([
        { id: 'same', item: 'other', generation: 4, similarity: 1 },
        { id: 'orthogonal', item: 'item', generation: 1, similarity: 0 },
        { id: 'opposite', item: 'item', generation: 1, similarity: -1 },
      ]);
      expect(
        await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(7, 0, 0), limit: 1 }),
      ).to.have.length(1);
    });

    it('equals brute force on clustered vectors, ties and near ties included', async () => {
      const scope = scopes();
      const space = { model: 'test/model', dimensions: 100 };
      const random = linearRandom(5);
      const entries = clusteredEntries(random, 1500, space.dimensions);
      await vectors.upsert(scope, space, entries);
      for (let query = 0; query < 40; query++) {
        const vector =
          query % 2 === 0 ? gaussian(random, space.dimensions) : (entries[query * 30]?.vector ?? gaussian(random, 100));
        const hits = await vectors.nearest(scope, { kind: 'chunk', vector, limit: 10 });
        expectSameHits(hits, bruteForce(entries, vector), 10);
      }
    });

    it('gives the vectors of one generation of an item alone when asked', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [
        vectorEntry('shared', [1, 0, 0]),
        vectorEntry('shared', [0, 1, 0], { item: item('other') }),
        vectorEntry('shared', [0, 0, 1], { generation: 2 }),
        vectorEntry('zero', [0, 0, 0], { generation: 2 }),
      ]);
      const of = async (generation: number) =>
        (await vectors.fetch(scope, 'chunk', ['shared', 'zero'], { item: item('item'), generation }))
          .map(({ id, vector }) => `${id} ${[...vector].join(',')}`)
          .sort();
      expect(await of(1)).to.deep.equal(['shared 1,0,0']);
      expect(await of(2)).to.deep.equal(['shared 0,0,1', 'zero 0,0,0']);
      expect(await of(3)).to.deep.equal([]);
    });

    it('breaks ties by id, then item', async () => {
      const scope = scopes();
      const ids = Array.from({ length: 300 }, (_, index) => `id-${String((index * 7) % 300).padStart(3, '0')}`);
      await vectors.upsert(scope, SPACE, [
        ...ids.map((id) => vectorEntry(id, [1, 2, 3])),
        vectorEntry('id-000', [2, 4, 6], { item: item('a') }),
        vectorEntry('id-000', [2, 4, 6], { item: item('z') }),
      ]);
      const hits = await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 2, 3), limit: 5 });
      expect(hits.map((hit) => `${hit.id} ${hit.item}`)).to.deep.equal([
        'id-000 a',
        'id-000 item',
        'id-000 z',
        'id-001 item',
        'id-002 item',
      ]);
    });

    it('settles the space by the first call and refuses another before it writes, naming both', async () => {
      const scope = scopes();
      expect(await vectors.space(scope)).to.equal(null);
      await vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      expect(await vectors.space(scope)).to.deep.equal(SPACE);
      const attempts = [
        vectors.upsert(scope, { model: 'test/wide', dimensions: 4 }, [vectorEntry('b', [1, 0, 0, 0])]),
        vectors.upsert(scope, { model: 'test/wide', dimensions: 3 }, [vectorEntry('b', [1, 0, 0])]),
        vectors.upsert(scope, { model: 'test/wide', dimensions: 4 }, []),
      ];
      for (const error of await Promise.all(attempts.map(rejection))) {
        expect(error.name).to.equal('EmbeddingDimensionMismatchError');
        expect(error.message).to.include('test/model').and.include('test/wide').and.include('3');
      }
      const inner = await rejection(
        vectors.upsert(scope, SPACE, [vectorEntry('b', [1, 0, 0]), vectorEntry('c', [1, 0])]),
      );
      expect(inner.name).to.equal('EmbeddingDimensionMismatchError');
      const query = await rejection(vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0), limit: 1 }));
      expect(query.name).to.equal('EmbeddingDimensionMismatchError');
      expect(query.message).to.include('3').and.include('2');
      expect(await vectors.count(scope, {})).to.equal(1);
      expect(await vectors.space(scope)).to.deep.equal(SPACE);
    });

    it('writes all rows of a call or none', async () => {
      const scope = scopes();
      const bad = [vectorEntry('a', [1, 0, 0]), vectorEntry('b', [1, Number.NaN, 0])];
      expect((await rejection(vectors.upsert(scope, SPACE, bad))).name).to.equal('EmbeddingException');
      expect(await vectors.count(scope, {})).to.equal(0);
      expect(await vectors.space(scope)).to.equal(null);
    });

    it('stores zero vectors and never finds them', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [vectorEntry('zero', [0, 0, 0]), vectorEntry('far', [-1, 0, 0])]);
      expect(await nearestIds(scope, [1, 0, 0])).to.deep.equal(['far']);
      expect(await nearestIds(scope, [0, 0, 0])).to.deep.equal([]);
      expect(await vectors.count(scope, {})).to.equal(2);
      const [zero] = await vectors.fetch(scope, 'chunk', ['zero']);
      expect([...(zero?.vector ?? [])]).to.deep.equal([0, 0, 0]);
    });

    it('gives stored vectors at unit length by id, of every item and generation', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [
        vectorEntry('a', [3, 4, 0]),
        vectorEntry('a', [0, 0, 2], { generation: 2 }),
        vectorEntry('a', [0, 1, 0], { kind: 'summary' }),
      ]);
      const rows = await vectors.fetch(scope, 'chunk', ['a', 'a', 'unknown']);
      expect(rows.map(({ generation, vector }) => [generation, ...vector]).sort()).to.deep.equal([
        [1, Math.fround(0.6), Math.fround(0.8), 0],
        [2, 0, 0, 1],
      ]);
      expect(await vectors.fetch(scope, 'chunk', [])).to.deep.equal([]);
    });

    it('replaces a row with the same key at once, also inside one call and with other node sets', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0]), vectorEntry('b', [0, 1, 0])]);
      expect(await nearestIds(scope, [1, 0, 0], { limit: 1 })).to.deep.equal(['a']);
      await vectors.upsert(scope, SPACE, [
        vectorEntry('a', [1, 0, 0]),
        vectorEntry('a', [0, 0, 1], { nodeSets: ['n'] }),
      ]);
      expect(await nearestIds(scope, [1, 0, 0], { limit: 1 })).to.deep.equal(['a']);
      const hits = await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(0, 0, 1), limit: 5 });
      expect(hits).to.have.length(2);
      expect(hits[0]).to.include({ id: 'a', similarity: 1 });
      expect(await vectors.count(scope, {})).to.equal(2);
      expect(await nearestIds(scope, [0, 0, 1], { nodeSets: ['n'] })).to.deep.equal(['a']);
    });

    it('sees rows that are added and removed after the first query', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      expect(await nearestIds(scope, [1, 0, 0])).to.deep.equal(['a']);
      for (let round = 0; round < 20; round++) {
        await vectors.upsert(scope, SPACE, [
          vectorEntry(`b${round}`, [1, 0.001 * (round + 1), 0], { generation: round }),
        ]);
        expect(await nearestIds(scope, [1, 0.001 * (round + 1), 0], { limit: 1 })).to.deep.equal([`b${round}`]);
        if (round % 2 === 0)
          expect(await vectors.remove(scope, { item: item('item'), generation: round })).to.be.at.least(1);
      }
      expect(await nearestIds(scope, [1, 0, 0], { limit: 100 })).to.have.members([
        'a',
        ...Array.from({ length: 10 }, (_, index) => `b${2 * index + 1}`),
      ]);
    });

    it('removes by item, by generation and those before a generation, and returns how many', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [
        ...[1, 2, 3].flatMap((generation) => [
          vectorEntry('a', [1, 0, 0], { generation }),
          vectorEntry('s', [1, 0, 0], { generation, kind: 'summary' }),
        ]),
        vectorEntry('other', [1, 0, 0], { item: item('other') }),
      ]);
      expect(await vectors.remove(scope, { item: item('item'), beforeGeneration: 2 })).to.equal(2);
      expect(await vectors.remove(scope, { item: item('item'), generation: 2 })).to.equal(2);
      const hits = await vectors.nearest(scope, { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 9 });
      expect(hits.map((hit) => `${hit.item}:${hit.generation}`)).to.deep.equal(['item:3', 'other:1']);
      expect(await vectors.remove(scope, { item: item('item') })).to.equal(2);
      expect(await vectors.remove(scope, { item: item('item') })).to.equal(0);
      expect(await nearestIds(scope, [1, 0, 0])).to.deep.equal(['other']);
      expect(await vectors.space(scope)).to.deep.equal(SPACE);
    });

    it('leaves items out that the scope withholds from its reader, before the limit', async () => {
      const scope = scopes();
      const noise = Array.from({ length: 40 }, (_, index) =>
        vectorEntry(`noise-${index}`, [1, 0, 0], { item: item(`secret-${index}`) }),
      );
      await vectors.upsert(scope, SPACE, [...noise, vectorEntry('a', [0, 1, 0], { item: item('one') })]);
      const reader = { ...scope, withheld: new Set(noise.map((entry) => entry.item)) };
      expect(await nearestIds(reader, [1, 0.1, 0], { limit: 1 })).to.deep.equal(['a']);
      expect(await nearestIds(scope, [1, 0.1, 0], { limit: 1 })).to.not.deep.equal(['a']);
    });

    it('filters by kind, item and node set before the limit', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [
        ...Array.from({ length: 40 }, (_, index) => vectorEntry(`noise-${index}`, [1, 0, 0])),
        vectorEntry('a', [0, 1, 0], { item: item('one'), nodeSets: ['red'] }),
        vectorEntry('b', [0, 1, 1], { item: item('one'), nodeSets: ['red', 'blue'] }),
        vectorEntry('c', [-1, 0, 0], { item: item('two'), nodeSets: ['blue'] }),
        vectorEntry('s', [1, 0, 0], { kind: 'summary', item: item('one') }),
      ]);
      const query = [1, 0.1, 0];
      expect(await nearestIds(scope, query, { items: [item('one'), item('two')], limit: 2 })).to.deep.equal(['a', 'b']);
      expect(await nearestIds(scope, query, { nodeSets: ['blue'] })).to.deep.equal(['b', 'c']);
      expect(await nearestIds(scope, query, { nodeSets: ['red'], items: [item('two')] })).to.deep.equal([]);
      expect(await nearestIds(scope, query, { kind: 'summary' })).to.deep.equal(['s']);
      expect(await nearestIds(scope, query, { items: [] })).to.deep.equal([]);
      expect(await vectors.count(scope, { kind: 'chunk', nodeSets: ['blue'] })).to.equal(2);
      expect(await vectors.count(scope, { items: [item('one')] })).to.equal(3);
    });

    it('keeps ids with slashes, blanks and any letters apart, as row, item and dataset', async () => {
      const scope = scopes();
      await vectors.upsert(
        scope,
        SPACE,
        HOSTILE_IDS.map((id, index) => vectorEntry(id, [1, index, index * index], { item: item(id) })),
      );
      for (const [index, id] of HOSTILE_IDS.entries()) {
        const own = [1, index, index * index];
        expect(await nearestIds(scope, own, { limit: 1 })).to.deep.equal([id]);
        expect((await vectors.fetch(scope, 'chunk', [id])).map((row) => row.item)).to.deep.equal([id]);
        expect(await nearestIds(scope, [1, 1, 1], { items: [item(id)] })).to.deep.equal([id]);
      }
      expect(await vectors.remove(scope, { item: item('..') })).to.equal(1);
    });

    it('never reaches another tenant or dataset, by any method', async () => {
      const mine = scopes('shared', 'mine');
      await vectors.upsert(mine, SPACE, [vectorEntry('a', [1, 0, 0])]);
      for (const other of [scopes('shared', 'theirs'), scopes('private', 'mine')]) {
        expect(await nearestIds(other, [1, 0, 0])).to.deep.equal([]);
        expect(await vectors.fetch(other, 'chunk', ['a'])).to.deep.equal([]);
        expect(await vectors.count(other, {})).to.equal(0);
        expect(await vectors.space(other)).to.equal(null);
        expect(await vectors.remove(other, { item: item('item') })).to.equal(0);
        await vectors.drop(other);
        await vectors.upsert(other, { model: 'test/own', dimensions: 2 }, [vectorEntry('a', [1, 0])]);
      }
      expect(await nearestIds(mine, [1, 0, 0])).to.deep.equal(['a']);
      expect(await vectors.space(mine)).to.deep.equal(SPACE);
    });

    it('drops vectors and space, and takes another space afterwards', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      expect(await nearestIds(scope, [1, 0, 0])).to.deep.equal(['a']);
      await vectors.drop(scope);
      expect(await vectors.space(scope)).to.equal(null);
      expect(await nearestIds(scope, [1, 0, 0])).to.deep.equal([]);
      await vectors.upsert(scope, { model: 'test/small', dimensions: 2 }, [vectorEntry('b', [0, 1])]);
      expect(await nearestIds(scope, [0, 1])).to.deep.equal(['b']);
    });

    it('answers many queries at once while others write', async () => {
      const scope = scopes();
      const space = { model: 'test/model', dimensions: 20 };
      const entries = clusteredEntries(linearRandom(3), 200, space.dimensions);
      await vectors.upsert(scope, space, entries);
      const noise = clusteredEntries(linearRandom(4), 60, space.dimensions).map((entry, index) => ({
        ...entry,
        id: `late-${index}`,
        item: item('late'),
      }));
      const writes = noise.map((entry) => vectors.upsert(scope, space, [entry]));
      const answers = await Promise.all(
        entries.map((entry) =>
          vectors.nearest(scope, { kind: 'chunk', vector: entry.vector, limit: 3, items: [item('item')] }),
        ),
      );
      await Promise.all(writes);
      for (const [index, hits] of answers.entries()) {
        expectSameHits(hits, bruteForce(entries, (entries[index] as VectorEntry).vector), 3);
      }
      expect(await vectors.count(scope, {})).to.equal(260);
    });

    it('stops at an abort', async () => {
      const scope = scopes();
      await vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      const query = { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 1 } as const;
      expect((await rejection(vectors.nearest(scope, query, AbortSignal.abort()))).name).to.equal('AbortError');
      expect(await vectors.nearest(scope, query, new AbortController().signal)).to.have.length(1);
    });
  });
}

/** Clusters, exact doubles, and pairs that differ in the last digits only. */
export function clusteredEntries(random: () => number, count: number, dimensions: number): VectorEntry[] {
  const centres = Array.from({ length: 12 }, () => gaussian(random, dimensions));
  const entries: VectorEntry[] = [];
  for (let index = 0; index < count; index++) {
    const centre = centres[index % centres.length] as Float32Array;
    const before = entries[index - 1]?.vector;
    const vector =
      before && index % 10 === 9
        ? Float32Array.from(before)
        : before && index % 10 === 8
          ? before.map((value) => value * (1 + 1e-4 * (random() - 0.5)))
          : gaussian(random, dimensions).map((value, at) => 0.3 * value + (centre[at] as number));
    entries.push(vectorEntry(`row-${index}`, [], { vector }));
  }
  return entries;
}

export function gaussian(random: () => number, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => random() + random() + random() + random() - 2);
}

/** All rows by similarity, in double precision. */
export function bruteForce(
  entries: readonly VectorEntry[],
  query: Float32Array,
): readonly { id: string; similarity: number }[] {
  const norm = (vector: Float32Array) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return entries
    .map(({ id, vector }) => {
      const dot = vector.reduce((sum, value, index) => sum + value * (query[index] as number), 0);
      return { id, similarity: dot / (norm(vector) * norm(query)) };
    })
    .sort((a, b) => b.similarity - a.similarity);
}

/** The same similarities, and no row that brute force ranks lower by more than rounding. */
export function expectSameHits(
  hits: readonly VectorHit[],
  expected: readonly { id: string; similarity: number }[],
  limit: number,
): void {
  const rounding = 2e-6;
  expect(hits).to.have.length(limit);
  const similarities = new Map(expected.map(({ id, similarity }) => [id, similarity]));
  hits.forEach((hit, rank) => {
    expect(hit.similarity).to.be.closeTo(similarities.get(hit.id) ?? Number.NaN, rounding);
    expect(hit.similarity).to.be.closeTo(expected[rank]?.similarity ?? Number.NaN, rounding);
  });
  expect(new Set(hits.map(({ id }) => id)).size).to.equal(limit);
}
