import { expect } from 'chai';
import { applyChanges, asBytes, asIntegers, entryFrequency, entryOffset, packEntry, termKey } from './postings.ts';

describe('postings', () => {
  it('pack offset and frequency into one number, the greatest too', () => {
    for (const [offset, frequency] of [
      [0, 1],
      [2047, 1],
      [2047, 2_000_000],
    ] as const) {
      // biome-ignore format: pairs
      const entry = packEntry(offset, frequency);
      expect([entryOffset(entry), entryFrequency(entry)]).to.deep.equal([offset, frequency]);
      expect(asIntegers(asBytes(Uint32Array.of(entry)))).to.deep.equal(Uint32Array.of(entry));
    }
    expect(entryFrequency(packEntry(5, 1e9))).to.equal(2 ** 21 - 1);
  });

  it('stay sorted and without doubles when rows come, change and go', () => {
    const rows = (entries: Uint32Array) => [...entries].map((entry) => [entryOffset(entry), entryFrequency(entry)]);
    const first = applyChanges(null, [packEntry(1, 1), packEntry(4, 2)]);
    const second = applyChanges(first, [packEntry(9, 1)]);
    const third = applyChanges(second, [packEntry(4, 0), packEntry(2, 7), packEntry(9, 3)]);
    expect(rows(third)).to.deep.equal([[1, 1], [2, 7], [9, 3]]); // biome-ignore format: pairs
    expect(rows(applyChanges(third, [packEntry(2, 0), packEntry(2, 5)]))).to.deep.equal([[1, 1], [2, 5], [9, 3]]); // biome-ignore format: pairs
    expect(applyChanges(first, [packEntry(1, 0), packEntry(4, 0), packEntry(8, 0)])).to.have.length(0);
  });

  it('give long and broken words keys of their own', () => {
    const keys = ['\ud800', '\ud801', 'a\0b', 'a\0c', 'x'.repeat(201), 'x'.repeat(202)].map(termKey);
    expect(new Set(keys).size).to.equal(keys.length);
    for (const key of keys) expect(key).to.match(/^ [\w-]{43}$/);
    expect(termKey('naïve-c++')).to.equal('naïve-c++');
  });
});
