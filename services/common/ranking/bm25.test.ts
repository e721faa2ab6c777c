import { expect } from 'chai';
import { inverseRowFrequency, scoreBm25 } from './bm25.ts';

const row = (id: string, length: number, ...frequencies: number[]) => ({
  id,
  item: 'item',
  generation: 1,
  length,
  frequencies,
});

describe('scoreBm25', () => {
  it('returns the value of the published formula', () => {
    const statistics = { rowCount: 10, averageLength: 4, rowFrequencies: [2, 5] };
    const [best] = scoreBm25({ candidates: [row('a', 6, 3, 1)], statistics });
    const damping = 1.2 * (1 - 0.75 + (0.75 * 6) / 4);
    const expected =
      (Math.log(1 + 8.5 / 2.5) * 3 * 2.2) / (3 + damping) + (Math.log(1 + 5.5 / 5.5) * 1 * 2.2) / (1 + damping);
    expect(best?.score).to.be.closeTo(expected, 1e-12);
  });

  it('takes k1 and b from the options', () => {
    const statistics = { rowCount: 10, averageLength: 4, rowFrequencies: [2] };
    const [best] = scoreBm25({ candidates: [row('a', 6, 3)], statistics }, { k1: 0, b: 0 });
    expect(best?.score).to.be.closeTo(Math.log(1 + 8.5 / 2.5), 1e-12);
  });

  it('prefers the rare term, the shorter row, and orders equal scores by id', () => {
    const statistics = { rowCount: 100, averageLength: 10, rowFrequencies: [1, 60] };
    const candidates = [row('common', 10, 0, 1), row('z', 10, 1, 0), row('long', 20, 1, 0), row('b', 10, 1, 0)];
    const scored = scoreBm25({ candidates, statistics });
    expect(scored.map((entry) => entry.row.id)).to.deep.equal(['b', 'z', 'long', 'common']);
    expect(scored.every((entry) => entry.score > 0)).to.equal(true);
  });

  it('never weights a term negatively, for any statistics', () => {
    expect(inverseRowFrequency(10, 10)).to.be.greaterThan(0);
    expect(inverseRowFrequency(10, 12)).to.equal(0);
    expect(scoreBm25({ candidates: [], statistics: { rowCount: 0, averageLength: 0, rowFrequencies: [] } })).to.be
      .empty;
  });
});
