import { expect } from 'chai';
import { collapseNearDuplicates } from './near-duplicates.ts';

const item = (id: string, text: string) => ({ id, text });
const LONG =
  'The committee met on Monday and agreed that the bridge over the river will be closed for repairs until the work is done.';

describe('near-duplicates', () => {
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
});
