import { expect } from 'chai';
import { createPace } from './progress.ts';

describe('the remaining time of work', () => {
  it('is not told by the first of many parts that run side by side', () => {
    let now = 0;
    const leftOf = createPace(() => now);
    now = 5_000;
    expect(leftOf(2, 50)).to.equal('');
    now = 5_200;
    expect(leftOf(18, 50)).to.equal('');
    now = 6_000;
    expect(leftOf(30, 50)).to.equal('4s left');
    now = 9_000;
    expect(leftOf(30, 50)).to.equal('6s left');
    expect(leftOf(50, 50)).to.equal('');
  });

  it('is told in minutes and hours', () => {
    let now = 0;
    const leftOf = createPace(() => now);
    for (const done of [100, 200, 300]) {
      now += 60_000;
      leftOf(done, 1_000);
    }
    expect(leftOf(300, 1_000)).to.equal('7m00s left');
    expect(leftOf(300, 100_000)).to.equal('');
    now = 3_600_000;
    expect(leftOf(300, 3_000)).to.equal('9h00m left');
  });
});
