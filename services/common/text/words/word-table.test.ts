import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { createDotProducts } from './dot-products.ts';
import { encodeTable, indexWords, readWordTable, wordTable } from './word-table.ts';

describe('table of word vectors', () => {
  it('puts words of one meaning nearer to each other than to others', () => {
    const { similarity } = wordTable();
    for (const [word, near, far] of [
      ['car', 'vehicle', 'bread'],
      ['doctor', 'physician', 'guitar'],
      ['job', 'employment', 'river'],
      ['brother', 'sibling', 'engine'],
    ] as const) {
      expect(similarity(word, near), `${word} and ${near}`).to.be.greaterThan(similarity(word, far) + 0.2);
    }
  });

  it('compares a vector with a row as it compares two words', () => {
    const { find, row, cosine, similarity } = wordTable();
    const vector = find('car')?.vector ?? new Float32Array();
    expect(cosine(vector, row('vehicle'))).to.be.closeTo(similarity('car', 'vehicle'), 1e-6);
    expect(row('xqzzyx')).to.equal(-1);
  });

  it('lists the nearest words of a common word, each of another stem', () => {
    const { nearest } = wordTable();
    expect([...nearest('vehicle')].slice(0, 4)).to.deep.equal(['car', 'suv', 'truck', 'jeep']);
    expect([...nearest('vehicle')]).not.to.include.members(['vehicles', 'cars']);
    expect([...nearest('xqzzyx')]).to.deep.equal([]);
  });

  it('finds the place of each of many words, those beyond ASCII included, and of no other', () => {
    const words = [...Array.from({ length: 500 }, (_, at) => `word${at}`), 'köln', 'x', '東京'];
    const bytes = words.map((word) => Buffer.from(word, 'utf8'));
    const ends = Uint32Array.from(bytes, (_, at) =>
      bytes.slice(0, at + 1).reduce((sum, { length }) => sum + length, 0),
    );
    const placeOf = indexWords(Buffer.concat(bytes), ends);
    expect(words.map(placeOf)).to.deep.equal(words.map((_, at) => at));
    expect(['word', 'word500', 'koln', '', 'K\u00f6ln'].map(placeOf)).to.deep.equal([-1, -1, -1, -1, -1]);
    expect(indexWords(new Uint8Array(), new Uint32Array())('a')).to.equal(-1);
  });

  it('ranks common words before rare ones', () => {
    const { find } = wordTable();
    expect(find('house')?.rank).to.be.lessThan(find('gazebo')?.rank ?? 0);
  });

  it('says that a word is unknown, whatever the word is', () => {
    const { find, similarity } = wordTable();
    for (const word of ['', 'xqzzyx', '__proto__', '漢字', 'a'.repeat(100_000)]) {
      expect(find(word)).to.equal(null);
      expect(similarity(word, 'house')).to.equal(0);
    }
  });

  it('finds every word that was written, at either end of the file too', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engram-words-'));
    try {
      const file = path.join(folder, 'words.bin');
      const words = ['zebra', 'äpfel', 'apple', 'apples', 'app'];
      const rows = words.map((word, rank) => ({ word, rank, values: Int8Array.from([rank + 1, 1]) }));
      await writeFile(file, encodeTable(rows, 2));
      const table = readWordTable(file);
      expect(words.map((word) => table.find(word)?.rank)).to.deep.equal([0, 1, 2, 3, 4]);
      expect(table.find('appl')).to.equal(null);
      await writeFile(file, 'not a table of words');
      expect(() => readWordTable(file)).to.throw('damaged');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('multiplies vectors of every length the same with WebAssembly and without', () => {
    for (const dimensions of [2, 8, 12, 16, 99, 100]) {
      const given = Int8Array.from({ length: 7 * dimensions }, (_, at) => ((at * 7919) % 256) - 128);
      const [fast, plain] = [
        createDotProducts(given, dimensions),
        createDotProducts(given, dimensions, { plain: true }),
      ];
      for (let one = 0; one < 7; one++) {
        for (let other = 0; other < 7; other++) {
          const expected = given
            .subarray(one * dimensions, (one + 1) * dimensions)
            .reduce((sum, value, at) => sum + value * (given[other * dimensions + at] as number), 0);
          expect([fast.of(one, other), plain.of(one, other)]).to.deep.equal([expected, expected]);
        }
      }
    }
  });
});
