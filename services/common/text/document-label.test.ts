import { expect } from 'chai';
import { documentLabel, firstWords } from './document-label.ts';

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

describe('label of a document', () => {
  it('is the file name, else the name, else the first words of a text without a name', () => {
    const text = '# On ships\n\nThey sail.';
    expect(documentLabel({ name: 'report', fileName: 'report.pdf', text })).to.equal('report.pdf');
    expect(documentLabel({ name: 'report', fileName: '', text })).to.equal('report');
    const name = `text_${'0'.repeat(32)}`;
    expect(documentLabel({ name, fileName: `${name}.txt`, text })).to.equal('On ships');
    expect(documentLabel({ name, fileName: `${name}.txt`, text: '' })).to.equal(`${name}.txt`);
  });
});
