import { expect } from 'chai';
import { isOrdinaryWord, majorityType, typeWeight } from './entity-type.ts';

describe('majorityType', () => {
  const votes = (counts: Record<string, number>) => new Map(Object.entries(counts));

  it('takes the type with most weight, and Concept only where it outweighs every other', () => {
    expect(majorityType(votes({ Concept: 12, Person: 18, Place: 8 }))).to.equal('Person');
    expect(majorityType(votes({ Concept: 2.4, Place: 0.6 }))).to.equal('Concept');
    expect(majorityType(votes({ Concept: 1, Person: 1 }))).to.equal('Person');
    expect(majorityType(votes({}))).to.equal('Concept');
  });

  it('does not depend on the order of the votes', () => {
    expect(majorityType(votes({ Place: 2, Person: 2 }))).to.equal('Person');
    expect(majorityType(votes({ Person: 2, Place: 2 }))).to.equal('Person');
  });
});

describe('typeWeight', () => {
  const weight = (name: string, type: string, certainty?: number) =>
    typeWeight({ name, type, mentions: 10, certainty });

  it('counts mentions by their certainty', () => {
    expect([weight('Perth', 'Place'), weight('Perth', 'Place', 0.6)]).to.deep.equal([10, 6]);
  });

  it('counts an uncertain Concept for ordinary words only, which some text writes with a capital', () => {
    expect([weight('shark', 'Concept'), weight('Queequeg', 'Concept')]).to.deep.equal([10, 0]);
    expect(weight('Redis', 'Concept', 0.9)).to.equal(9);
  });

  it('knows words of scripts without capitals for names', () => {
    expect(isOrdinaryWord('東京')).to.equal(false);
    expect(isOrdinaryWord('whale')).to.equal(true);
  });
});
