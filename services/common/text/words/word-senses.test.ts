import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { isOfKind, likeness, likenessTo } from './word-likeness.ts';
import { encodeSenses, NO_SYNSET, readWordSenses, wordSenses } from './word-senses.ts';

describe('table of word senses', () => {
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
      expect(isOfKind(kind, word), `${word} is a ${kind}`).to.be.greaterThan(0.5);
      expect(isOfKind(word, kind), `${kind} is a ${word}`).to.be.lessThan(0.3);
    }
  });

  it('takes inflected forms for what they are forms of', () => {
    const { row, partsOf } = wordSenses();
    expect(partsOf(row('ate')).verb).to.be.greaterThan(partsOf(row('ate')).noun);
    expect(isOfKind('animal', 'mice')).to.be.greaterThan(0.5);
  });

  it('says that a word is unknown, whatever the word is', () => {
    for (const word of ['', 'xqzzyx', '__proto__', '漢字', 'a'.repeat(100_000)]) {
      expect(wordSenses().row(word)).to.equal(-1);
      expect(likenessTo(word)).to.equal(null);
      expect(likeness('animal', word)).to.equal(0);
      expect(isOfKind(word, 'dog')).to.equal(0);
    }
  });

  it('reads what was written, and rejects another file', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engram-senses-'));
    try {
      const file = path.join(folder, 'senses.bin');
      const root = { parent: NO_SYNSET, second: NO_SYNSET, related: [] };
      const words = [[{ synset: 0, share: 1 }], [{ synset: 1, share: 0.5 }]];
      const below = { ...root, parent: 0 };
      await writeFile(file, encodeSenses(words, [root, below], ['zyx'], { nouns: 2, verbs: 2 }));
      const senses = readWordSenses(file);
      expect(senses.kindOf(0)(1, 0)).to.be.greaterThan(0.5);
      expect(senses.kindOf(1)(0, 0)).to.equal(0);
      await writeFile(file, 'not a table of senses');
      expect(() => readWordSenses(file)).to.throw('damaged');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
