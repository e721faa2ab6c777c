import { expect } from 'chai';
import { createTtlCache } from './ttl-cache.ts';

describe('a cache of values for a moment', () => {
  it('loads a value once, null too, until its time is over', async () => {
    let nowMs = 0;
    let loads = 0;
    const cache = createTtlCache<string, string | null>({ clock: { monotonicMs: () => nowMs } });
    const load = async () => {
      loads += 1;
      return null;
    };
    for (nowMs of [0, 999, 1000]) expect(await cache.of('key', load)).to.equal(null);
    expect(loads).to.equal(2);
  });

  it('gives a value that was read before a change to its caller only', async () => {
    const cache = createTtlCache<string, string>({ clock: { monotonicMs: () => 0 } });
    const read = Promise.withResolvers<string>();
    const first = cache.of('key', () => read.promise);
    cache.drop((key) => key === 'another');
    read.resolve('old');
    expect(await first).to.equal('old');
    expect(await cache.of('key', async () => 'new')).to.equal('new');
    cache.drop((_, value) => value === 'new');
    expect(cache.get('key')).to.equal(undefined);
  });
});
