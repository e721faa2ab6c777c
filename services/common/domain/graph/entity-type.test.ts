import { expect } from 'chai';
import { isOrdinaryWord, majorityType } from './entity-type.ts';

describe('majorityType', () => {
  const votes = (counts: Record<string, number>) => new Map(Object.entries(counts));

  it('lets every other type win over Concept, which says that nothing is known', () => {
    expect(majorityType('Queequeg', votes({ Concept: 91, Person: 18, Place: 8 }))).to.equal('Person');
    expect(majorityType('Queequeg', votes({ Concept: 3 }))).to.equal('Concept');
    expect(majorityType('Queequeg', votes({}))).to.equal('Concept');
  });

  it('keeps ordinary words concepts that some text writes with a capital', () => {
    expect(majorityType('shark', votes({ Concept: 24, Work: 1 }))).to.equal('Concept');
    expect(majorityType('harpooneer', votes({ Concept: 1, Person: 9 }))).to.equal('Person');
  });

  it('does not depend on the order of the votes', () => {
    expect(majorityType('Perth', votes({ Place: 2, Person: 2 }))).to.equal('Person');
    expect(majorityType('Perth', votes({ Person: 2, Place: 2 }))).to.equal('Person');
  });

  it('knows words of scripts without capitals for names', () => {
    expect(isOrdinaryWord('東京')).to.equal(false);
    expect(isOrdinaryWord('whale')).to.equal(true);
  });
});
