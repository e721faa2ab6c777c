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
  const table = wordTable();
  const positions = new Map(wanted.map(({ term }, at) => [term, at]));
  const vectors = wanted.flatMap(({ words }, at) =>
    words.flatMap((word) => {
      const entry = table.find(word);
      return entry === null ? [] : [{ at, vector: entry.vector }];
    }),
  );
  /** Of rows: position and share, in turn; null: like none of the words. */
  const known = new Map<number, readonly number[] | null>();

  function compare(row: number): readonly number[] | null {
    const found: number[] = [];
    for (const { at, vector } of vectors) {
      const cosine = table.cosine(vector, row);
      if (cosine >= MIN_SIMILARITY) found.push(at, Math.min(MAX_LIKENESS, cosine * cosine));
    }
    return found.length === 0 ? null : found;
  }

  return (shares, { tokens, rows }) => {
    for (const row of rows) {
      let found = known.get(row);
      if (found === undefined) {
        found = compare(row);
        known.set(row, found);
      }
      if (found === null) continue;
      for (let place = 0; place < found.length; place += 2) {
        const at = found[place] as number;
        shares[at] = Math.max(shares[at] as number, found[place + 1] as number);
      }
    }
    for (const token of tokens) {
      const at = positions.get(token);
      if (at !== undefined) shares[at] = 1;
    }
  };
}

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
