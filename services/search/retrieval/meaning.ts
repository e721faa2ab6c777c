import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { wordTable } from '../../common/text/words/word-table.ts';

/** Cosine of two words below which they are taken as unrelated. */
const MIN_SIMILARITY = 0.4;

/** Compares sentences with a query by the meaning of their words. */
export interface Meaning {
  /**
   * Returns for each term of the query the share of it (0 to 1) that the best of the sentences means, together with the
   * header above them: 1 for the term itself, else the square of the best cosine of a word.
   */
  bestSentence(header: readonly string[], sentences: readonly (readonly string[])[]): Float64Array;
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
  const known = new Map<string, Float64Array | null>();

  function compare(token: string): Float64Array | null {
    let shares: Float64Array | null = null;
    const position = positions.get(token);
    if (position !== undefined) {
      shares = new Float64Array(terms.length);
      shares[position] = 1;
    }
    const entry = STOP_WORDS.has(token) ? null : table.find(token);
    if (entry === null) return shares;
    for (const { at, vector } of vectors) {
      if (at === position) continue;
      const cosine = dot(vector, entry.vector);
      if (cosine < MIN_SIMILARITY) continue;
      shares ??= new Float64Array(terms.length);
      shares[at] = cosine * cosine;
    }
    return shares;
  }

  function raise(shares: Float64Array, tokens: readonly string[]): void {
    for (const token of tokens) {
      let found = known.get(token);
      if (found === undefined) {
        found = compare(token);
        known.set(token, found);
      }
      if (found === null) continue;
      for (let at = 0; at < shares.length; at++) {
        if ((found[at] as number) > (shares[at] as number)) shares[at] = found[at] as number;
      }
    }
  }

  return {
    bestSentence(header, sentences) {
      const ofHeader = new Float64Array(terms.length);
      raise(ofHeader, header);
      let best = ofHeader;
      let most = 0;
      for (const tokens of sentences) {
        const shares = ofHeader.slice();
        raise(shares, tokens);
        let meant = 0;
        for (let at = 0; at < shares.length; at++) meant += (shares[at] as number) * (information[at] as number);
        if (meant > most) [best, most] = [shares, meant];
      }
      return best;
    },
  };
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}
