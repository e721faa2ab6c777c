import { expect } from 'chai';
import { RECIPROCAL, RECIPROCAL_SLACK } from './lexical-query.ts';

describe('reciprocal as a sum of exponentials', () => {
  it('is never below and at most the slack above, from 1 to 100', () => {
    for (let y = 1; y <= 100; y *= 1.001) {
      const sum = RECIPROCAL.reduce((total, { weight, rate }) => total + weight * Math.exp(-rate * y), 0);
      expect(sum * y, String(y))
        .to.be.at.least(1)
        .and.at.most(1 + RECIPROCAL_SLACK);
    }
  });
});
