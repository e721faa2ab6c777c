import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createPriorityGate } from './priority-gate.ts';

describe('priority gate', () => {
  it('keeps to its limit and lets the lowest number go first, equal ones in the order they came', async () => {
    const gate = createPriorityGate(2);
    const order: string[] = [];
    let running = 0;
    let most = 0;
    const work = (name: string, priority: number) =>
      gate.run(priority, async () => {
        order.push(name);
        running += 1;
        most = Math.max(most, running);
        await sleep(2);
        running -= 1;
      });
    await Promise.all([work('a', 5), work('b', 5), work('c', 3), work('d', 1), work('e', 1), work('f', 2)]);
    expect(order).to.deep.equal(['a', 'b', 'd', 'e', 'f', 'c']);
    expect(most).to.equal(2);
  });

  it('goes on after a failure', async () => {
    const gate = createPriorityGate(1);
    const outcomes = await Promise.allSettled([
      gate.run(1, () => Promise.reject(new Error('broken'))),
      gate.run(1, async () => 'fine'),
    ]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
  });
});
