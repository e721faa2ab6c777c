import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { encodeSenses, NO_SYNSET, readWordSenses, wordSenses } from './word-senses.ts';

describe('table of word senses', () => {
  it('takes inflected forms for what they are forms of', () => {
    const { row, partsOf } = wordSenses();
    expect(partsOf(row('ate')).verb).to.be.greaterThan(partsOf(row('ate')).noun);
  });

  it('says that a word is unknown, whatever the word is', () => {
    for (const word of ['', 'xqzzyx', '__proto__', '漢字', 'a'.repeat(100_000)]) {
      expect(wordSenses().row(word)).to.equal(-1);
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
