import { expect } from 'chai';
import { nextAfterPrefix } from './prefix.ts';

describe('the end of a prefix', () => {
  it('is the least text above all text with the prefix', () => {
    expect(nextAfterPrefix('a')).to.equal('b');
    expect(nextAfterPrefix('az\u{10ffff}')).to.equal('a{');
    expect(nextAfterPrefix('\ud7ff')).to.equal('\ue000');
    expect(nextAfterPrefix('\uffff')).to.equal('\u{10000}');
  });

  it('is missing when there is none', () => {
    expect(nextAfterPrefix('')).to.equal(null);
    expect(nextAfterPrefix('\u{10ffff}\u{10ffff}')).to.equal(null);
  });
});
