import { expect } from 'chai';
import { recentlyUsed } from './recently-used.ts';

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
