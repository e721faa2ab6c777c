import { keptByText } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { likestTo, placeOf } from './word-likeness.ts';

/** The words of a text: its index tokens, and the rows of those in the table of word senses, with their `placeOf`. */
export interface TextWords {
  readonly tokens: readonly string[];
  readonly rows: readonly number[];
  readonly places: readonly number[];
}

/** A word that is looked for, and the forms of it whose likes count too; without any only the term itself counts. */
export interface WantedWord {
  readonly term: string;
  readonly words: readonly string[];
}

/**
 * Compares texts with wanted words by meaning: raises the share (0 to 1) of each wanted word to what a text has of it, 1 for the
 * term itself, else the likeness of the likest word.
 */
export type RaiseCoverage = (shares: number[], text: TextWords) => void;

export function coverageBy(wanted: readonly WantedWord[]): RaiseCoverage {
  const positions = new Map(wanted.map(({ term }, at) => [term, at]));
  const likes = wanted.flatMap(({ words }, at) =>
    words.flatMap((word) => {
      const likest = likestTo(word);
      return likest === null ? [] : [{ at, likest }];
    }),
  );
  return (shares, { tokens, places }) => {
    for (const token of tokens) {
      const at = positions.get(token);
      if (at !== undefined) shares[at] = 1;
    }
    for (const { at, likest } of likes) if (shares[at] !== 1) shares[at] = likest(places, shares[at] as number);
  };
}

const CACHED_WORDS = 10_000;
const LONGEST_CACHED_WORD = 40;
const cache = new Map<string, Omit<TextWords, 'places'>>();

/** Sentences of the passages that answer many questions. */
const CACHED_TEXTS = 1000;

/** Reads the words of a text, with caches: texts repeat words, and questions sentences. */
export const wordsOfText = keptByText(CACHED_TEXTS, readText);

function readText(text: string): TextWords {
  const words = text.split(/\s+/u);
  const read = words.map(readWord);
  const rows = new Set(read.flatMap((word) => word.rows));
  for (const row of rowsOf(everydayWords().phrasesIn(words))) rows.add(row);
  return { tokens: read.flatMap(({ tokens }) => tokens), rows: [...rows], places: [...rows].map(placeOf) };
}

function readWord(word: string): Omit<TextWords, 'places'> {
  const known = cache.get(word);
  if (known !== undefined) return known;
  const tokens = tokenize(word);
  const read = { tokens, rows: rowsOf(tokens) };
  if (word.length > LONGEST_CACHED_WORD) return read;
  if (cache.size >= CACHED_WORDS) cache.clear();
  cache.set(word, read);
  return read;
}

/** The rows of tokens, without stop words and unknown words. */
function rowsOf(tokens: readonly string[]): readonly number[] {
  const senses = wordSenses();
  return tokens.flatMap((token) => {
    const row = STOP_WORDS.has(token) ? -1 : senses.row(token);
    return row < 0 ? [] : [row];
  });
}
