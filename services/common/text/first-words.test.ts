import { expect } from 'chai';
import { firstWords } from './first-words.ts';

describe('first words of a text', () => {
  it('stand on one line and end between words', () => {
    expect(firstWords('  Ada\n\tmet Grace. ')).to.equal('Ada met Grace.');
    expect(firstWords('word '.repeat(100))).to.equal(`${'word '.repeat(12)}…`);
    expect(firstWords('')).to.equal('');
  });

  it('end anywhere where there are no words', () => {
    expect(firstWords('x'.repeat(100))).to.equal(`${'x'.repeat(60)} …`);
    expect(firstWords(`${'x'.repeat(59)}🔑${'x'.repeat(59)}`).isWellFormed()).to.equal(true);
  });
});
