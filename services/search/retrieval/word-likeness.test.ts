import { expect } from 'chai';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { likenessTo, mostOfKind } from './word-likeness.ts';

function likeness(wanted: string, word: string): number {
  return likenessTo(wanted)?.(wordSenses().row(word)) ?? 0;
}

describe('likeness of words', () => {
  it('knows synonyms, words of a kind and derived words', () => {
    for (const [wanted, word, least] of [
      ['automobile', 'car', 0.85],
      ['supervisor', 'boss', 0.7],
      ['relative', 'cousin', 0.6],
      ['fruit', 'blueberries', 0.6],
      ['illness', 'measles', 0.55],
      ['donate', 'donation', 0.45],
      ['assist', 'helped', 0.7],
      ['timepiece', 'watch', 0.35],
    ] as const) {
      expect(likeness(wanted, word), `${wanted} and ${word}`).to.be.greaterThan(least);
    }
    for (const [wanted, word] of [
      ['relative', 'truck'],
      ['instrument', 'kitchen'],
      ['puncture', 'flat'],
    ] as const) {
      expect(likeness(wanted, word), `${wanted} and ${word}`).to.be.lessThan(0.1);
    }
  });

  it('says what is of a kind, and not the other way round', () => {
    for (const [kind, word] of [
      ['instrument', 'guitar'],
      ['animal', 'dog'],
      ['profession', 'dentist'],
      ['composer', 'bach'],
      ['city', 'rotterdam'],
      ['vehicle', 'ambulance'],
      ['food', 'spaghetti'],
    ] as const) {
      expect(mostOfKind(kind, [word]), `${word} is a ${kind}`).to.be.greaterThan(0.5);
      expect(mostOfKind(word, [kind]), `${kind} is a ${word}`).to.be.lessThan(0.3);
    }
  });

  it('takes inflected forms for what they are forms of', () => {
    expect(mostOfKind('animal', ['mice'])).to.be.greaterThan(0.5);
  });

  it('says that a word is unknown, whatever the word is', () => {
    for (const word of ['', 'xqzzyx', '__proto__', '漢字', 'a'.repeat(100_000)]) {
      expect(likenessTo(word)).to.equal(null);
      expect(likeness('animal', word)).to.equal(0);
      expect(mostOfKind(word, ['dog'])).to.equal(0);
    }
  });
});
