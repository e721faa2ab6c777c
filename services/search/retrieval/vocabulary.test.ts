import { expect } from 'chai';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { readWords, type TextWords, Vocabulary } from './vocabulary.ts';
import { findTerms } from './word-coverage.ts';
import { rowAt } from './word-likeness.ts';

const numbersOf = (vocabulary: Vocabulary, tokens: readonly string[]) =>
  tokens.map((token) => vocabulary.numberOf(token));
const hasMeaning = ({ places }: TextWords, word: string) => places.map(rowAt).includes(wordSenses().row(word));

describe('words of a text', () => {
  it('are its index tokens, whatever blanks and marks are around them', () => {
    const text = ` The “Pequod”, (a whaler)\u00a0sailed\n\tfrom Nantucket: Ærøskøbing's 1,200 e-mails! 捕鯨船\u2003`;
    const vocabulary = new Vocabulary();
    const { tokens } = vocabulary.read(text, 0, text.length);
    expect(tokens).to.deep.equal(numbersOf(vocabulary, tokenize(text)));
    expect(tokens.length).to.be.greaterThan(12);
  });

  it('are those between two places of the text', () => {
    const text = 'The whale sank. The ship sailed on. Nobody wept.';
    const vocabulary = new Vocabulary();
    const { tokens } = vocabulary.read(text, 16, 35);
    expect(tokens).to.deep.equal(numbersOf(vocabulary, tokenize('The ship sailed on.')));
  });

  it('have the same numbers again, and others in another vocabulary', () => {
    const [one, other] = [new Vocabulary(), new Vocabulary()];
    other.read('a word before', 0, 13);
    const text = 'whales sail';
    const first = one.read(text, 0, text.length);
    expect(one.read(text, 0, text.length).tokens).to.deep.equal(first.tokens);
    const find = findTerms(['sail', 'whale']);
    expect([first, other.read(text, 0, text.length), first].map(find)).to.deep.equal([
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
  });

  it('are read when they are longer than words that are kept', () => {
    const long = 'x'.repeat(50);
    const vocabulary = new Vocabulary();
    const { tokens } = vocabulary.read(`a ${long} b`, 0, 54);
    expect(tokens).to.deep.equal(numbersOf(vocabulary, ['a', long, 'b']));
  });

  it('mean each thing once, and what their phrases mean', () => {
    const words = readWords('My mother looked after the children, and the children laughed.');
    expect(words.places.length).to.equal(new Set(words.places).size);
    expect(hasMeaning(words, 'children')).to.equal(true);
    expect(hasMeaning(words, 'babysit')).to.equal(true);
    expect(hasMeaning(readWords('She looked at the children.'), 'babysit')).to.equal(false);
  });

  it('are found among so many that the vocabulary is renewed', () => {
    const find = findTerms(['harpoon']);
    for (let word = 0; word < 70_000; word += 10) {
      readWords(Array.from({ length: 10 }, (_, at) => `w${word + at}q`).join(' '));
    }
    expect(find(readWords('A harpoon and another harpoon.'))).to.deep.equal([0, 0]);
    expect(find(readWords('w1q w2q'))).to.deep.equal([]);
  }).timeout(20_000);
});
