import { expect } from 'chai';
import { fuse } from './rrf.ts';

const lane = (_name: string, ids: readonly string[], weight = 1) => ({ ids, weight });

describe('reciprocal rank fusion', () => {
  it('adds weight / (k + rank) over the lanes, and returns the best rank', () => {
    const [first, second] = fuse([lane('dense', ['a', 'b']), lane('lexical', ['b'], 2)], { limit: 10 });
    expect(first?.id).to.equal('b');
    expect(first?.score).to.be.closeTo(1 / 62 + 2 / 61, 1e-12);
    expect(first?.bestRank).to.equal(1);
    expect(second?.id).to.equal('a');
  });

  it('breaks ties by best rank, then by id', () => {
    const fused = fuse([lane('one', ['b', 'a']), lane('two', ['a', 'b'])], { limit: 10 });
    expect(fused.map((item) => item.id)).to.deep.equal(['a', 'b']);
  });

  it('keeps the first hit of each lane in the pool although the sum would drop it', () => {
    const common = ['c1', 'c2', 'c3'];
    const lanes = [lane('dense', common), lane('lexical', common), lane('time', ['only'], 0.5)];
    expect(fuse(lanes, { limit: 3 }).map((item) => item.id)).to.deep.equal(common);
    const kept = fuse(lanes, { limit: 3, guaranteedPerLane: 1 });
    expect(kept.map((item) => item.id)).to.deep.equal(['c1', 'c2', 'only']);
  });

  it('reserves no slot for a lane that is switched off', () => {
    const lanes = [lane('dense', ['a', 'b']), lane('off', ['z'], 0)];
    expect(fuse(lanes, { limit: 2, guaranteedPerLane: 1 }).map((item) => item.id)).to.deep.equal(['a', 'b']);
  });
});
