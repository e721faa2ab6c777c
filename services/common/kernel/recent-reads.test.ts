import { expect } from 'chai';
import { createRecentReads } from './recent-reads.ts';

describe('recent reads', () => {
  it('let the least recently used go when there is no room', () => {
    const reads = createRecentReads<number>(100);
    for (const [value, key] of ['a', 'b', 'c', 'd'].entries()) reads.keep(key, value, 25);
    expect(reads.get('a')).to.equal(0);
    reads.keep('e', 4, 25);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => reads.get(key))).to.deep.equal([0, undefined, 2, 3, 4]);
  });

  it('count a value that is kept again once, and keep none that would push out most others', () => {
    const reads = createRecentReads<number>(100);
    for (let time = 0; time < 10; time++) reads.keep('a', time, 20);
    reads.keep('b', 1, 20);
    reads.keep('large', 2, 26);
    expect(['a', 'b', 'large'].map((key) => reads.get(key))).to.deep.equal([9, 1, undefined]);
    reads.clear();
    expect(reads.get('a')).to.equal(undefined);
  });

  it('hold their room however many are read, those in use among them', () => {
    const reads = createRecentReads<number, number>(1000);
    for (let key = 0; key < 10_000; key++) {
      reads.keep(key, key, 10);
      reads.get(0);
    }
    const known = Array.from({ length: 10_000 }, (_, key) => reads.get(key)).filter((value) => value !== undefined);
    expect(known.length).to.equal(100);
    expect([known[0], known[1], known.at(-1)]).to.deep.equal([0, 9901, 9999]);
  });
});
