import { expect } from 'chai';
import { labelOfPassage, sourcedQuote, sourceLabel } from './source-label.ts';

const file = (uri: string) => ({ externalMetadata: { _cognee: { source_uri: uri } } });
const passage = { text: 'It costs 3 EUR.', documentName: 'report', headings: [] };

describe('the label of a source', () => {
  it('is the file name with its extension', () => {
    expect(labelOfPassage({ ...passage, ...file('file:///report.pdf') })).to.equal('report.pdf');
    expect(labelOfPassage({ ...passage, documentName: 'My plan', ...file('file:///My%20plan.md') })).to.equal(
      'My plan.md',
    );
  });

  it('is the name alone when the address names no such file', () => {
    expect(labelOfPassage(passage)).to.equal('report');
    expect(labelOfPassage({ ...passage, ...file('https://example.org/a%') })).to.equal('report');
  });

  it('has the headings that the name does not say, and the page', () => {
    const found = { ...passage, headings: ['Report', 'Costs'], page: 3 };
    expect(sourceLabel(found, 'Costs')).to.equal('report › Costs, page 3');
    expect(sourceLabel({ ...passage, documentName: '04-My-cat-s-diary' }, "My Cat's Diary")).to.equal(
      '04-My-cat-s-diary',
    );
    expect(sourceLabel(passage, 'Travel')).to.equal('report › Travel');
  });

  it('names the innermost three headings, each with at most sixty characters', () => {
    const long = `Costs of ${'trains, '.repeat(10)}and boats`;
    expect(sourceLabel({ ...passage, headings: ['Travel', 'Work', long, 'April'] })).to.equal(
      'report › Work › Costs of trains, trains, trains, trains, trains, trains… › April',
    );
  });

  it('leaves out the heading of a section that has ended before the quote', () => {
    const source = {
      text: '## 2025-03-12\n\nOne.\n\n## 2025-04-19\n\nTwo.',
      documentName: 'chat',
      headings: ['2025-03-12'],
    };
    expect(sourceLabel(source, '2025-04-19')).to.equal('chat › 2025-04-19');
  });

  it('has the headings above a sentence in place of those above the passage', () => {
    const source = { ...passage, headings: ['Changes', '2.2.0', 'Fixed'] };
    expect(sourceLabel(source, { heading: 'Fixed', above: ['Changes', '2.1.0'] })).to.equal(
      'report › Changes › 2.1.0 › Fixed',
    );
  });

  it('is the beginning of a text without a name', () => {
    const bare = { text: `# On ships\n\n${'word '.repeat(30)}`, documentName: `text_${'0'.repeat(32)}`, headings: [] };
    expect(labelOfPassage(bare)).to.equal('On ships');
    expect(labelOfPassage({ ...bare, text: 'word '.repeat(30) })).to.equal(`${'word '.repeat(12)}…`);
  });

  it('has the row of a table, and the speaker and time of a conversation instead of in the quote', () => {
    const rows = {
      ...passage,
      text: 'name: Sarah, city: Rome\n\nname: Tom, city: Lagos',
      row: 7,
      ...file('file:///report.csv'),
    };
    expect(sourcedQuote(rows, 'name: Tom, city: Lagos')).to.equal('"name: Tom, city: Lagos" (report.csv, row 8)');
    const talk = {
      ...passage,
      text: '[10:03] Anna: The cache is broken. It is slow.\n[10:05] Tom: I will look at it.',
    };
    expect(sourcedQuote(talk, '[10:05] Tom: I will look at it.')).to.equal('"I will look at it." (report, Tom, 10:05)');
    expect(sourcedQuote(talk, 'It is slow.')).to.equal('"It is slow." (report, Anna, 10:03)');
    expect(sourcedQuote({ ...passage, text: 'Warning: It is hot.' }, 'Warning: It is hot.')).to.equal(
      '"Warning: It is hot." (report)',
    );
  });

  it('stands behind a quote without the addresses of its links, unless they are asked for', () => {
    const linked = 'The handbook (https://example.org/a_(b)) explains it.';
    expect(sourcedQuote(passage, linked)).to.equal('"The handbook explains it." (report)');
    expect(sourcedQuote(passage, linked, '', null, true)).to.equal(`"${linked}" (report)`);
  });
});
