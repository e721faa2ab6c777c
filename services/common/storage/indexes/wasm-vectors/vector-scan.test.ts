import { expect } from 'chai';
import {
  bruteForce,
  clusteredEntries,
  expectSameHits,
  gaussian,
} from '../../../../../test/conformance/vector-index.ts';
import { item, vectorEntry } from '../../../../../test/support/dataset-rows.ts';
import { linearRandom } from '../../../kernel/random.ts';
import type { VectorEntry } from '../../ports/vector-index.ts';
import { createBlockPool } from './block-pool.ts';
import { createKernel } from './kernel.ts';
import { selectBest } from './select-best.ts';
import { createVectorScan } from './vector-scan.ts';
import type { VectorSource } from './vector-source.ts';
import { normaliseInto } from './vector-space.ts';

/** A source over entries in memory; `read` counts rows that were read in order and single ones. */
function sourceOf(entries: VectorEntry[]): { source: VectorSource; read: { inOrder: number; single: number } } {
  const read = { inOrder: 0, single: 0 };
  const unit = (entry: VectorEntry) => {
    const vector = new Float32Array(entry.vector.length);
    normaliseInto(entry.vector, vector, entry.id);
    return vector;
  };
  const source: VectorSource = {
    space: () => ({ model: 'test/model', dimensions: entries[0]?.vector.length ?? 0 }),
    count: () => entries.length,
    eachAfter(_, after, visit) {
      for (let row = after + 1; row < entries.length; row++) {
        read.inOrder++;
        const entry = entries[row] as VectorEntry;
        if (!visit({ row, id: entry.id, origin: row % 5, vector: unit(entry) })) break;
      }
    },
    vectors(rows) {
      read.single += rows.length;
      return new Map(rows.flatMap((row) => (entries[row] ? [[row, unit(entries[row])]] : [])));
    },
    provenance: (origin) => ({ item: item(`item-${origin}`), generation: 1 }),
    accepted: (filter) => (filter.items ? new Set(filter.items.map((name) => Number(name.slice(5)))) : null),
  };
  return { source, read };
}

function unitQuery(vector: Float32Array): Float32Array {
  const unit = new Float32Array(vector.length);
  normaliseInto(vector, unit, 'query');
  return unit;
}

const MEGABYTE = 1024 * 1024;

describe('kernel', () => {
  for (const dimensions of [16, 48, 384, 1536]) {
    it(`gives the same dot products in WASM and plain, ${dimensions} dimensions`, () => {
      const random = linearRandom(dimensions);
      const rows = 21;
      const vectors = gaussian(random, (rows + 1) * dimensions);
      const [simd, plain] = [createKernel(), createKernel({ plain: true })].map((kernel) => {
        kernel.reserve(4 * 65_536 + vectors.byteLength);
        new Float32Array(kernel.buffer()).set(vectors);
        const out = 4 * 65_536;
        kernel.dots(0, 4 * dimensions, rows, dimensions, out);
        const floats = new Float32Array(kernel.buffer(), out, rows).slice();
        new Int8Array(kernel.buffer()).set(vectors.map((value) => Math.max(-127, Math.round(60 * value))));
        kernel.dots8(0, dimensions, rows, dimensions, out);
        return { isSimd: kernel.isSimd, floats, integers: new Int32Array(kernel.buffer(), out, rows).slice() };
      });
      expect([simd?.isSimd, plain?.isSimd]).to.deep.equal([true, false]);
      expect(simd?.integers).to.deep.equal(plain?.integers);
      expect(simd?.integers.some((value) => value < 0)).to.equal(true);
      for (const [index, value] of simd?.floats.entries() ?? []) {
        expect(value).to.be.closeTo(plain?.floats[index] ?? Number.NaN, 1e-3);
      }
    });
  }
});

describe('selectBest', () => {
  it('finds the greatest accepted scores and everything that ties with the last', () => {
    const random = linearRandom(1);
    const scores = Float32Array.from({ length: 500 }, () => Math.floor(random() * 60));
    const accepts = (slot: number) => slot % 3 !== 0;
    for (const limit of [1, 7, 100, 5000]) {
      const accepted = [...scores.keys()].filter(accepts).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
      const floor = scores[accepted[Math.min(limit, accepted.length) - 1] ?? 0] ?? 0;
      const expected = accepted.filter((slot) => limit >= accepted.length || (scores[slot] ?? 0) >= floor);
      expect([...selectBest(scores, 500, limit, accepts)].sort((a, b) => a - b)).to.deep.equal(
        expected.sort((a, b) => a - b),
      );
    }
    expect(selectBest(scores, 0, 5, accepts)).to.deep.equal([]);
    expect(selectBest(scores, 500, 5, () => false)).to.deep.equal([]);
  });
});

describe('VectorScan', () => {
  for (const plain of [false, true]) {
    for (const quantiseAbove of [0, 1e9]) {
      it(`equals brute force ${plain ? 'without' : 'with'} SIMD, ${quantiseAbove === 0 ? 'i8 refined' : 'f32'}`, () => {
        const random = linearRandom(17);
        const entries = clusteredEntries(random, 1200, 130);
        const { source } = sourceOf(entries);
        const scan = createVectorScan({ memoryBytes: 64 * MEGABYTE, quantiseAbove, kernel: createKernel({ plain }) });
        const vectors = Array.from({ length: 21 }, (_, index) => entries[index * 50]?.vector ?? gaussian(random, 130));
        const answers = scan.nearest('d', source, 'chunk', vectors.map((vector) => ({ vector: unitQuery(vector), limit: 10 }))); // biome-ignore format: one line
        for (const [index, hits] of answers.entries()) {
          expectSameHits(hits, bruteForce(entries, vectors[index] as Float32Array), 10);
        }
      });
    }
  }

  it('finds the nearest of many rows among those with the nearest sketches', () => {
    const random = linearRandom(23);
    const entries = clusteredEntries(random, 20_000, 96);
    const { source } = sourceOf(entries);
    const scan = createVectorScan({ memoryBytes: 64 * MEGABYTE, quantiseAbove: 0 });
    let found = 0;
    for (let index = 0; index < 20; index++) {
      const vector = (entries[index * 900] as VectorEntry).vector.map((value) => value + 0.3 * (random() - 0.5));
      const [hits] = scan.nearest('d', source, 'chunk', [{ vector: unitQuery(vector), limit: 10 }]);
      const exact = new Map(
        bruteForce(entries, vector)
          .slice(0, 10)
          .map((hit) => [hit.id, hit.similarity]),
      );
      for (const { id, similarity } of hits ?? []) {
        if (!exact.has(id)) continue;
        found += 1;
        expect(similarity).to.be.closeTo(exact.get(id) as number, 1e-6);
      }
    }
    expect(found).to.be.at.least(196);
    const filtered = scan.nearest('d', source, 'chunk', [
      { vector: unitQuery(entries[7]?.vector as Float32Array), limit: 1, items: [item('item-2')] },
    ]);
    expect(filtered[0]?.[0]?.id).to.equal(entries[7]?.id);
  });

  it('reads only what is new after an upsert, and passes i8 from the limit on', () => {
    const entries = clusteredEntries(linearRandom(2), 300, 32);
    const { source, read } = sourceOf(entries);
    const scan = createVectorScan({ memoryBytes: 8 * MEGABYTE, quantiseAbove: 310 });
    const ask = () =>
      scan.nearest('d', source, 'chunk', [{ vector: unitQuery((entries.at(-1) as VectorEntry).vector), limit: 1 }]);
    ask();
    expect(read).to.deep.equal({ inOrder: 300, single: 0 });
    entries.push(vectorEntry('late', [], { vector: gaussian(linearRandom(99), 32) }));
    scan.changed('d', [{ kind: 'chunk', row: 5 }]);
    expect(ask()[0]?.[0]?.id).to.equal('late');
    ask();
    expect(read).to.deep.equal({ inOrder: 301, single: 0 });
    entries.push(...clusteredEntries(linearRandom(3), 20, 32));
    scan.changed('d', []);
    ask();
    expect(read.single).to.be.greaterThan(0);
  });

  it('keeps to its memory: unloads what was used longest ago and reads through what does not fit', () => {
    const memoryBytes = 40 * 65_536;
    const random = linearRandom(6);
    const scan = createVectorScan({ memoryBytes, quantiseAbove: 1e9 });
    const datasets = Array.from({ length: 4 }, () => clusteredEntries(random, 600, 256));
    const large = clusteredEntries(random, 11_000, 256);
    const sources = [...datasets, large].map((entries) => ({ entries, ...sourceOf(entries) }));
    const ask = (index: number) => {
      const { entries, source } = sources[index] as (typeof sources)[number];
      const vector = gaussian(random, 256);
      const [hits] = scan.nearest(`d${index}`, source, 'chunk', [{ vector: unitQuery(vector), limit: 10 }]);
      expectSameHits(hits ?? [], bruteForce(entries, vector), 10);
      expect(scan.usage().freeBlocks).to.be.at.least(0);
    };
    for (const index of [0, 0, 1, 0, 2, 3, 0]) ask(index);
    expect(sources[0]?.read.inOrder).to.be.greaterThan(0);
    expect(sources[3]?.read.inOrder).to.equal(600);
    const before = sources[4]?.read.inOrder ?? 0;
    ask(4);
    ask(4);
    expect(sources[4]?.read.inOrder).to.be.at.least(before + 22_000);
    for (let index = 0; index < 5; index++) scan.unload(`d${index}`);
    expect(scan.usage()).to.deep.equal({ datasets: 0, freeBlocks: memoryBytes / 65_536 });
  });
});

describe('BlockPool', () => {
  it('hands out no more than its limit and takes blocks back', () => {
    const pool = createBlockPool(createKernel(), 3 * 65_536 + 5);
    const taken = [pool.take(), pool.take(), pool.take()];
    expect(pool.take()).to.equal(null);
    expect(pool.available()).to.equal(0);
    for (const address of taken) pool.floats(address as number).fill(1);
    pool.giveBack([65_536]);
    expect(pool.take()).to.equal(65_536);
  });
});
