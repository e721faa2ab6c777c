import { expect } from 'chai';
import { type EvidenceCandidate, rankEvidence } from './evidence.ts';

const passage = (...coverage: number[]): EvidenceCandidate => ({ coverage: Float64Array.from(coverage), bonus: 0 });
const options = { linkValue: 2, pairShare: 0.75, redundancy: 0, places: 10 };
const order = (...rest: Parameters<typeof rankEvidence>) => rankEvidence(...rest).map((entry) => entry.index);

describe('ranking by evidence', () => {
  it('ranks by own score when nothing is linked', () => {
    expect(order([passage(1, 0), passage(2, 2), passage(0, 3)], [], options)).to.deep.equal([1, 2, 0]);
  });

  it('ranks a weak passage that completes a strong one above passages that repeat it', () => {
    const film = passage(5, 4, 0);
    const otherFilm = passage(4, 4, 0);
    const director = passage(0, 0, 2);
    const ranked = rankEvidence([film, otherFilm, director], [{ from: 0, to: 2, weight: 1 }], options);
    expect(ranked.map((entry) => entry.index)).to.deep.equal([0, 2, 1]);
    expect(ranked[1]).to.deep.include({ own: 2, partner: 0 });
    expect(ranked[1]?.score).to.equal(0.75 * (5 + 4 + 2 + 2) + 0.25 * 2);
  });

  it('counts a dimension once for a pair', () => {
    const ranked = rankEvidence([passage(5), passage(5)], [{ from: 0, to: 1, weight: 0 }], options);
    expect(ranked.every((entry) => entry.score === 5)).to.equal(true);
  });

  it('puts the other end of a chain before variations of the first end', () => {
    const candidates = [passage(5, 0), passage(4.9, 0), passage(0, 4)];
    expect(order(candidates, [], { ...options, redundancy: 0.5 })).to.deep.equal([0, 2, 1]);
    expect(order(candidates, [], options)).to.deep.equal([0, 1, 2]);
  });

  it('returns every candidate once, also below the ordered ranks', () => {
    const candidates = Array.from({ length: 30 }, (_, index) => passage(index % 7, index % 3));
    const ranked = order(candidates, [], { ...options, redundancy: 0.3, places: 5 });
    expect(ranked.toSorted((a, b) => a - b)).to.deep.equal(candidates.map((_, index) => index));
  });
});
