import { expect } from 'chai';
import { isProgressTick } from './active-run.ts';

const ticks = (total: number): number =>
  Array.from({ length: total }, (_, index) => index + 1).filter((count) => isProgressTick(count, total)).length;

describe('isProgressTick', () => {
  it('ticks at every item of a small run', () => {
    expect(ticks(7)).to.equal(7);
  });

  it('keeps to about twenty ticks however large the run is', () => {
    expect(ticks(1000)).to.be.within(20, 22);
    expect(ticks(100_001)).to.be.within(20, 22);
  });

  it('always ticks at the first and the last item', () => {
    expect(isProgressTick(1, 999)).to.equal(true);
    expect(isProgressTick(999, 999)).to.equal(true);
  });
});
