import { expect } from 'chai';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();
const summaryOf = (text: string): string =>
  extractByRules({ text, documentName: 'note', headings: [], knownNames: [] }, tag).summary;

describe('summary by rules', () => {
  it('of one short sentence is that sentence', () => {
    expect(summaryOf('Ada met Grace (in London).')).to.equal('Ada met Grace (in London).');
  });

  it('omits parentheses of a long sentence', () => {
    const text =
      'The Prague Spring (Czech: Pražské jaro, Slovak: Pražská jar) was a period of political liberalization in Czechoslovakia after the war.';
    expect(summaryOf(text)).to.equal(
      'The Prague Spring was a period of political liberalization in Czechoslovakia after the war.',
    );
  });
});
