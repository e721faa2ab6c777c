import { expect } from 'chai';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';

describe('memory rate limiter', () => {
  const limit = { capacity: 3, refillPerSecond: 0.5 };
  const at = (maxKeys?: number) => {
    let nowMs = 0;
    const clock = { monotonicMs: () => nowMs };
    const limiter = createMemoryRateLimiter({ clock, ...(maxKeys === undefined ? {} : { maxKeys }) });
    const advance = (ms: number) => {
      nowMs += ms;
    };
    return { limiter, advance };
  };

  it('lets a burst through, then one for each refilled token, and says how long to wait', async () => {
    const { limiter, advance } = at();
    for (let index = 0; index < 3; index += 1) expect((await limiter.take('k', limit)).allowed).to.equal(true);
    expect(await limiter.take('k', limit)).to.deep.equal({ allowed: false, retryAfterSeconds: 2 });
    advance(1500);
    expect(await limiter.take('k', limit)).to.deep.equal({ allowed: false, retryAfterSeconds: 1 });
    advance(500);
    expect((await limiter.take('k', limit)).allowed).to.equal(true);
    expect((await limiter.take('k', limit)).allowed).to.equal(false);
  });

  it('keeps keys apart and never saves up more than the capacity', async () => {
    const { limiter, advance } = at();
    for (let index = 0; index < 3; index += 1) await limiter.take('k', limit);
    expect((await limiter.take('other', limit)).allowed).to.equal(true);
    advance(1_000_000);
    const taken = await Promise.all(Array.from({ length: 5 }, () => limiter.take('k', limit)));
    expect(taken.filter(({ allowed }) => allowed)).to.have.length(3);
  });

  it('never allows what has no capacity', async () => {
    const { limiter } = at();
    const none = await limiter.take('k', { capacity: 0, refillPerSecond: 0 });
    expect(none).to.deep.equal({ allowed: false, retryAfterSeconds: 86_400 });
  });

  it('forgets the longest unused keys first when there are too many', async () => {
    const { limiter } = at(2);
    const single = { capacity: 1, refillPerSecond: 0.001 };
    for (const key of ['a', 'b', 'a', 'c']) await limiter.take(key, single);
    expect((await limiter.take('a', single)).allowed).to.equal(false);
    expect((await limiter.take('b', single)).allowed).to.equal(true);
  });
});
