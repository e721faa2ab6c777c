import { expect } from 'chai';
import { createLargeCache, recentlyUsed } from './recently-used.ts';

describe('recentlyUsed', () => {
  it('makes a value once, and removes the least recently used one beyond the size', () => {
    const cache = new Map<string, string>();
    const made: string[] = [];
    const read = (key: string) =>
      recentlyUsed(cache, 2, key, () => {
        made.push(key);
        return key.toUpperCase();
      });
    expect(['a', 'b', 'a', 'c', 'a', 'b'].map(read)).to.deep.equal(['A', 'B', 'A', 'C', 'A', 'B']);
    expect(made).to.deep.equal(['a', 'b', 'c', 'b']);
  });
});

describe('createLargeCache', () => {
  const known = (keys: readonly number[]) => {
    const cache = createLargeCache<number, number>(10);
    for (let key = 0; key < 100; key++) {
      cache.set(key, key);
      cache.get(0);
    }
    return keys.map((key) => cache.get(key));
  };

  it('keeps what was used last', () => {
    expect(known([0, 99, 98, 97])).to.deep.equal([0, 99, 98, 97]);
  });

  it('keeps no more than its size', () => {
    expect(known([89, 50, 1])).to.deep.equal([undefined, undefined, undefined]);
  });

  it('knows nothing after it was cleared', () => {
    const cache = createLargeCache<string, number>(4);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.clear();
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).to.deep.equal([undefined, undefined, undefined]);
  });
});
