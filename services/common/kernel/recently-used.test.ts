import { expect } from 'chai';
import { createLargeCache, keptByLength, recentlyUsed } from './recently-used.ts';

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

describe('keptByLength', () => {
  const madeOf = (texts: readonly string[]) => {
    const made: string[] = [];
    const read = keptByLength(1000, (text) => made.push(text), 400);
    for (const text of texts) read(text);
    return made;
  };
  const short = Array.from({ length: 60 }, (_, at) => `row ${at}`);
  const passage = 'a passage '.repeat(20);

  it('keeps a long text beside many short ones', () => {
    expect(madeOf([passage, ...short, passage])).to.deep.equal([passage, ...short]);
  });

  it('keeps texts of no more characters than it may', () => {
    const others = ['b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(300));
    expect(madeOf([passage, ...others, passage])).to.deep.equal([passage, ...others, passage]);
  });

  it('keeps no text above the longest length', () => {
    const long = 'x'.repeat(401);
    expect(madeOf([long, long])).to.deep.equal([long, long]);
  });
});
