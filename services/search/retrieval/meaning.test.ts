import { expect } from 'chai';
import { createMeaning } from './meaning.ts';
import { analyseQuery } from './query-analysis.ts';
import { readWords } from './vocabulary.ts';
import { findTerms } from './word-coverage.ts';

describe('meaning of sentences', () => {
  const sharesOf = (query: string, ...sentences: readonly string[]) => {
    const { terms, words } = analyseQuery(query);
    const meaning = createMeaning(
      terms,
      words,
      terms.map(() => 1),
    );
    const read = { header: readWords(''), sentences: sentences.map((text) => readWords(text)) };
    const shares = meaning.bestSentence(read, read.sentences.map(findTerms(terms)));
    return Object.fromEntries(terms.map((term, at) => [term, shares[at] ?? 0]));
  };

  it('counts a word of the same meaning as a share of the word itself', () => {
    const { vehicl: vehicle, paint } = sharesOf('Which vehicle did I paint?', 'I will paint the old car.');
    expect(paint).to.equal(1);
    expect(vehicle).to.be.within(0.5, 0.9);
    expect(sharesOf('Which vehicle did I paint?', 'The tea was cold.').vehicl).to.equal(0);
  });

  it('reads one sentence, not the words of several', () => {
    const { hound, bark } = sharesOf('Does the hound bark?', 'My dog sleeps.', 'We bark at strangers.');
    expect(bark).to.equal(1);
    expect(hound).to.equal(0);
  });

  it('takes names as they are: one town is not another', () => {
    expect(sharesOf('Who lives in Lisbon?', 'Ada lives in Madrid.').lisbon).to.equal(0);
  });
});
