import { expect } from 'chai';
import { compareValues } from './compare-values.ts';
import type { StatementValue } from './statement.ts';

describe('values of places', () => {
  const place = (...parts: string[]): StatementValue => ({ kind: 'place', parts });

  it('differ when both are towns or both are countries, in any of four languages', () => {
    expect(compareValues(place('sevilla'), place('graz'))).to.equal('different');
    expect(compareValues(place('köln'), place('madrid', 'spain'))).to.equal('different');
    expect(compareValues(place('españa'), place('france'))).to.equal('different');
  });

  it('may be one when they are spellings of one place or one lies in the other', () => {
    expect(compareValues(place('munich'), place('münchen'))).to.equal('unclear');
    expect(compareValues(place('paris'), place('france'))).to.equal('unclear');
    expect(compareValues(place('scotland'), place('united kingdom'))).to.equal('unclear');
    expect(compareValues(place('kreuzberg'), place('berlin'))).to.equal('unclear');
  });
});
