import { expect } from 'chai';
import type { Supersession } from '../../common/records/cognify/supersessions.ts';
import { asksFor } from './changes.ts';
import { readQuestion } from './question.ts';

const changeOfProperty = (predicate: string) => ({
  supersession: { predicate } as Supersession,
  isOver: false,
});

describe('question about a fact that has changed', () => {
  it('asks for it by other words than its name', () => {
    expect(asksFor(readQuestion('Where does Ada live?'), changeOfProperty('lives_in'))).to.equal(true);
    expect(asksFor(readQuestion('What does the rent cost?'), changeOfProperty('price'))).to.equal(true);
  });

  it('does not ask for a property named like a member of every object', () => {
    for (const predicate of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(asksFor(readQuestion('Which function of the native code?'), changeOfProperty(predicate))).to.equal(false);
    }
  });
});
