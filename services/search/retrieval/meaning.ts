import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { wordTable } from '../../common/text/words/word-table.ts';

/** Cosine of two words below which they are taken as unrelated. */
const MIN_SIMILARITY = 0.4;

/** The words of a sentence: its index tokens, and the rows of those in the table of word vectors. */
export interface SentenceWords {
  readonly tokens: readonly string[];
  readonly rows: readonly number[];
}

/** Compares sentences with a query by the meaning of their words. */
export interface Meaning {
  /**
   * Returns for each term of the query the share of it (0 to 1) that the best of the sentences means, together with the
   * header above them: 1 for the term itself, else the square of the best cosine of a word.
   */
  bestSentence(header: SentenceWords, sentences: readonly SentenceWords[]): readonly number[];
}

/** `words`: the word of each term; null when only the term itself counts. `information`: idf of each term. */
export function createMeaning(
  terms: readonly string[],
  words: readonly (string | null)[],
  information: readonly number[],
): Meaning {
  const table = wordTable();
  const positions = new Map(terms.map((term, at) => [term, at]));
  const vectors = words.flatMap((word, at) => {
    const entry = word === null ? null : table.find(word);
    return entry === null ? [] : [{ at, vector: entry.vector }];
  });
  /** Of rows: term and share, in turn; null: means none of the terms. */
  const known = new Map<number, readonly number[] | null>();

  function compare(row: number): readonly number[] | null {
    const found: number[] = [];
    for (const { at, vector } of vectors) {
      const cosine = table.cosine(vector, row);
      if (cosine >= MIN_SIMILARITY) found.push(at, cosine * cosine);
    }
    return found.length === 0 ? null : found;
  }

  function raise(shares: number[], { tokens, rows }: SentenceWords): void {
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
  }

  return {
    bestSentence(header, sentences) {
      const ofHeader = terms.map(() => 0);
      raise(ofHeader, header);
      let best = ofHeader;
      let most = 0;
      for (const sentence of sentences) {
        const shares = [...ofHeader];
        raise(shares, sentence);
        let meant = 0;
        for (let at = 0; at < shares.length; at++) meant += (shares[at] as number) * (information[at] as number);
        if (meant > most) [best, most] = [shares, meant];
      }
      return best;
    },
  };
}

/** The rows of tokens, without stop words and words outside the table. */
export function rowsOf(tokens: readonly string[]): readonly number[] {
  const table = wordTable();
  return tokens.flatMap((token) => {
    const row = STOP_WORDS.has(token) ? -1 : table.row(token);
    return row < 0 ? [] : [row];
  });
}
