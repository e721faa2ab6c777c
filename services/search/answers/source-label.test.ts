import { expect } from 'chai';
import { documentLabel, sourceLabel } from './source-label.ts';

const file = (uri: string) => ({ externalMetadata: { _cognee: { source_uri: uri } } });
const passage = { text: 'It costs 3 EUR.', documentName: 'report', headings: [] };

describe('the label of a source', () => {
  it('is the file name with its extension', () => {
    expect(documentLabel({ ...passage, ...file('file:///report.pdf') })).to.equal('report.pdf');
    expect(documentLabel({ ...passage, documentName: 'My plan', ...file('file:///My%20plan.md') })).to.equal(
      'My plan.md',
    );
  });

  it('is the name alone when the address names no such file', () => {
    expect(documentLabel(passage)).to.equal('report');
    expect(documentLabel({ ...passage, ...file('https://example.org/a%') })).to.equal('report');
  });

  it('has the headings that the name does not say, and the page', () => {
    const found = { ...passage, headings: ['Report', 'Costs'], page: 3 };
    expect(sourceLabel(found, 'Costs')).to.equal('report › Costs, page 3');
    expect(sourceLabel({ ...passage, documentName: '04-My-cat-s-diary' }, "My Cat's Diary")).to.equal(
      '04-My-cat-s-diary',
    );
    expect(sourceLabel(passage, 'Travel')).to.equal('report › Travel');
  });

  it('is the beginning of a text without a name', () => {
    const bare = { text: `# On ships\n\n${'word '.repeat(30)}`, documentName: `text_${'0'.repeat(32)}`, headings: [] };
    expect(documentLabel(bare)).to.equal('On ships');
    expect(documentLabel({ ...bare, text: 'word '.repeat(30) })).to.equal(`${'word '.repeat(9).trim()}…`);
  });
});
