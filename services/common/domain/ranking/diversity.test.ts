import { expect } from 'chai';
import { capPerDocument, collapseNearDuplicates, maximalMarginalRelevance } from './diversity.ts';

const item = (id: string, text: string, documentId = id) => ({ id, text, documentId });
const LONG =
  'The committee met on Monday and agreed that the bridge over the river will be closed for repairs until the work is done.';

describe('diversity', () => {
  it('collapses texts that say the same and counts the support', () => {
    const collapsed = collapseNearDuplicates([
      item('a', LONG),
      item('b', 'Something else.'),
      item('c', LONG.toUpperCase()),
    ]);
    expect(collapsed.map(({ item: { id }, support }) => [id, support])).to.deep.equal([
      ['a', 2],
      ['b', 1],
    ]);
    expect(collapsed[0]?.duplicates).to.deep.equal(['c']);
  });

  it('keeps texts apart that differ in a number or a negation', () => {
    const numbers = [item('a', `${LONG} It costs 5 million.`), item('b', `${LONG} It costs 6 million.`)];
    expect(collapseNearDuplicates(numbers, 0.5)).to.have.length(2);
    const negated = [item('a', LONG), item('b', LONG.replace('will be', 'will not be'))];
    expect(collapseNearDuplicates(negated, 0.5)).to.have.length(2);
  });

  it('lets other documents have their turn but loses nothing', () => {
    const items = [item('a1', '', 'a'), item('a2', '', 'a'), item('a3', '', 'a'), item('b1', '', 'b')];
    expect(capPerDocument(items, 2).map(({ id }) => id)).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('compares with what was picked, not with everything', () => {
    const points = [
      { at: 0, relevance: 1 },
      { at: 0.05, relevance: 0.95 },
      { at: 1, relevance: 0.6 },
    ];
    const picked = maximalMarginalRelevance(points, {
      relevance: (point) => point.relevance,
      similarity: (left, right) => 1 - Math.abs(left.at - right.at),
      lambda: 0.5,
      limit: 2,
    });
    expect(picked.map((point) => point.at)).to.deep.equal([0, 1]);
  });
});
