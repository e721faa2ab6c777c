import { recentlyUsed } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';

/** Cosine of two words below which they are taken as unrelated. */
const MIN_SIMILARITY = 0.4;

/** The words of a text: its index tokens, and the rows of those in the table of word vectors. */
export interface TextWords {
  readonly tokens: readonly string[];
  readonly rows: readonly number[];
}

/** A word that is looked for, and the forms of it whose likes count too; without any only the term itself counts. */
export interface WantedWord {
  readonly term: string;
  readonly words: readonly string[];
}

/**
 * Compares texts with wanted words by meaning: raises the share (0 to 1) of each wanted word to what a text has of it, 1 for the
 * term itself, else the square of the best cosine of a word.
 */
export type RaiseCoverage = (shares: number[], text: TextWords) => void;

export function coverageBy(wanted: readonly WantedWord[]): RaiseCoverage {
  const positions = new Map(wanted.map(({ term }, at) => [term, at]));
  const likes = wanted.flatMap(({ words }, at) =>
    words.flatMap((word) => {
      const likeness = likenessOf(word);
      return likeness === null ? [] : [{ at, likeness }];
    }),
  );
  return (shares, { tokens, rows }) => {
    for (const { at, likeness } of likes) {
      let best = shares[at] as number;
      for (const row of rows) best = Math.max(best, likeness(row));
      shares[at] = best;
    }
    for (const token of tokens) {
      const at = positions.get(token);
      if (at !== undefined) shares[at] = 1;
    }
  };
}

/** Size of the cache: 4 bytes for each word of the table, 300 kB a word. */
const CACHED_LIKENESSES = 24;
const likenesses = new Map<string, (row: number) => number>();

/** Returns how like a word the words of rows are (0 to 0.99); null for a word outside the table. Questions repeat words. */
function likenessOf(word: string): ((row: number) => number) | null {
  const table = wordTable();
  const entry = table.find(word);
  if (entry === null) return null;
  return recentlyUsed(likenesses, CACHED_LIKENESSES, word, () => {
    const known = new Float32Array(table.size).fill(UNKNOWN);
    return (row) => {
      const share = known[row] as number;
      if (share !== UNKNOWN) return share;
      known[row] = shareOf(table.cosine(entry.vector, row));
      return known[row] as number;
    };
  });
}

const UNKNOWN = -1;
const shareOf = (cosine: number): number => (cosine < MIN_SIMILARITY ? 0 : Math.min(MAX_LIKENESS, cosine * cosine));

/** Below 1, which says that a text has the very term. */
const MAX_LIKENESS = 0.99;

const CACHED_WORDS = 50_000;
const LONGEST_CACHED_WORD = 40;
const cache = new Map<string, TextWords>();

/** Reads the words of a text, with a cache: texts repeat words. */
export function wordsOfText(text: string): TextWords {
  const read = text.split(/\s+/u).map(readWord);
  return { tokens: read.flatMap(({ tokens }) => tokens), rows: [...new Set(read.flatMap(({ rows }) => rows))] };
}

function readWord(word: string): TextWords {
  const known = cache.get(word);
  if (known !== undefined) return known;
  const tokens = tokenize(word);
  const read = { tokens, rows: rowsOf(tokens) };
  if (word.length > LONGEST_CACHED_WORD) return read;
  if (cache.size >= CACHED_WORDS) cache.clear();
  cache.set(word, read);
  return read;
}

/** The rows of tokens, without stop words and words outside the table. */
function rowsOf(tokens: readonly string[]): readonly number[] {
  const table = wordTable();
  return tokens.flatMap((token) => {
    const row = STOP_WORDS.has(token) ? -1 : table.row(token);
    return row < 0 ? [] : [row];
  });
}
