import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createConcurrencyLimit } from './concurrency-limit.ts';

describe('concurrency limit', () => {
  it('runs waiting work by priority, and work of equal priority in order of its calls', async () => {
    const limit = createConcurrencyLimit(2);
    const order: string[] = [];
    let running = 0;
    let most = 0;
    const work = (name: string, priority: number) =>
      limit(async () => {
        order.push(name);
        running += 1;
        most = Math.max(most, running);
        await sleep(2);
        running -= 1;
      }, priority);
    await Promise.all([work('a', 5), work('b', 5), work('c', 3), work('d', 1), work('e', 1), work('f', 2)]);
    expect(order).to.deep.equal(['a', 'b', 'd', 'e', 'f', 'c']);
    expect(most).to.equal(2);
  });

  it('gives the slot of failed work to the next call', async () => {
    const limit = createConcurrencyLimit(1);
    const outcomes = await Promise.allSettled([
      limit(() => Promise.reject(new Error('broken'))),
      limit(async () => 'fine'),
    ]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
  });
});
