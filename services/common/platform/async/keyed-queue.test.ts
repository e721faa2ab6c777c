import { expect } from 'chai';
import { createKeyedQueue } from './keyed-queue.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('keyed queue', () => {
  it('let work under one key go one after the other, in order, and under other keys meanwhile', async () => {
    const inTurn = createKeyedQueue();
    const done: string[] = [];
    const work = (name: string, ms: number) => async () => {
      await pause(ms);
      done.push(name);
      return name;
    };
    const answers = [inTurn('a', work('a1', 20)), inTurn('a', work('a2', 0)), inTurn('b', work('b', 5))];
    expect(await Promise.all(answers)).to.deep.equal(['a1', 'a2', 'b']);
    expect(done).to.deep.equal(['b', 'a1', 'a2']);
  });

  it('go on after work that failed, whose failure its caller alone hears of', async () => {
    const inTurn = createKeyedQueue();
    const failing = inTurn('a', () => Promise.reject(new Error('first')));
    const next = inTurn('a', async () => 'second');
    expect(await failing.catch((error: Error) => error.message)).to.equal('first');
    expect(await next).to.equal('second');
  });
});
