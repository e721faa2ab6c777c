/**
 * Writes `services/common/text/words/neighbours.bin`, the nearest words of the common words of `words.bin`, for `WordTable.nearest`:
 *   node test/bench/make-neighbours.ts
 * Layout, little endian: number of words (u32); their rows in the table (u32), the frequent ones first; for each of them 32
 * places in this list (u16), nearest first, each word of another stem.
 */
import { writeFileSync } from 'node:fs';
import { stemOf } from '../../services/common/text/language/tokenize.ts';
import { NEIGHBOURS, readWordTable } from '../../services/common/text/words/word-table.ts';

const WORDS = 32_768;

const table = readWordTable();
const words = Array.from({ length: table.size }, (_, row) => {
  const word = table.wordAt(row);
  return { row, word, stem: stemOf(word), entry: table.find(word) };
})
  .toSorted((a, b) => (a.entry?.rank ?? 0) - (b.entry?.rank ?? 0))
  .slice(0, WORDS);
const vectors = new Float32Array(WORDS * table.dimensions);
for (const [place, { entry }] of words.entries()) vectors.set(entry?.vector ?? [], place * table.dimensions);

const content = Buffer.alloc(4 + WORDS * (4 + 2 * NEIGHBOURS));
content.writeUInt32LE(WORDS, 0);
const cosines = new Float32Array(WORDS);
for (const [place, { row, stem }] of words.entries()) {
  content.writeUInt32LE(row, 4 + 4 * place);
  const own = place * table.dimensions;
  for (let other = 0; other < WORDS; other++) {
    let sum = 0;
    const start = other * table.dimensions;
    for (let at = 0; at < table.dimensions; at++)
      sum += (vectors[own + at] as number) * (vectors[start + at] as number);
    cosines[other] = sum;
  }
  const stems = new Set([stem]);
  const start = 4 + 4 * WORDS + 2 * NEIGHBOURS * place;
  for (let found = 0; found < NEIGHBOURS; ) {
    let best = 0;
    for (let other = 1; other < WORDS; other++)
      if ((cosines[other] as number) > (cosines[best] as number)) best = other;
    cosines[best] = -2;
    const name = words[best]?.stem ?? '';
    if (stems.has(name)) continue;
    stems.add(name);
    content.writeUInt16LE(best, start + 2 * found++);
  }
}
writeFileSync(new URL('../../services/common/text/words/neighbours.bin', import.meta.url), content);
