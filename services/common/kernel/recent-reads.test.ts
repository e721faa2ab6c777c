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
});
