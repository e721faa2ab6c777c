import { expect } from 'chai';
import { once } from '../async/once.ts';
import { onDemand } from './on-demand.ts';

describe('what is made on demand', () => {
  it('is made once, however many ask for it at the same time', async () => {
    let made = 0;
    const value = once(async () => {
      made += 1;
      return made;
    });
    expect(await Promise.all([value(), value(), value()])).to.deep.equal([1, 1, 1]);
    expect(await value()).to.equal(1);
  });

  it('is made again when it could not be made, as when a module cannot be read at that moment', async () => {
    let tries = 0;
    const double = onDemand(async () => {
      tries += 1;
      if (tries === 1) throw new Error('too many open files');
      return async (number: number) => number * 2;
    });
    const outcomes = await Promise.allSettled([double(1), double(2)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await double(3)).to.equal(6);
    expect(tries).to.equal(2);
  });
});
