import type { TextWords } from './vocabulary.ts';
import { coverageBy, type PassageWords } from './word-coverage.ts';

/** Compares sentences with a query by the meaning of their words. */
export type Meaning = ReturnType<typeof createMeaning>;

/** `words`: the word of each term; null when only the term itself counts. `information`: idf of each term. */
export function createMeaning(
  terms: readonly string[],
  words: readonly (string | null)[],
  information: readonly number[],
) {
  const raise = coverageBy(terms.map((term, at) => ({ term, words: words[at] == null ? [] : [words[at]] })));
  return {
    /**
     * Returns for each term of the query the share of it (0 to 1) that the best of the sentences means, together with the
     * header above them, see `coverageBy`. `found`: the terms in each sentence, see `findTerms`.
     */
    bestSentence({ header, sentences }: PassageWords, found: readonly (readonly number[])[]): readonly number[] {
      const ofHeader = terms.map(() => 0);
      raise(ofHeader, header);
      let best = ofHeader;
      let most = 0;
      for (let place = 0; place < sentences.length; place++) {
        const shares = ofHeader.slice();
        raise(shares, sentences[place] as TextWords, found[place]);
        let meant = 0;
        for (let at = 0; at < shares.length; at++) meant += (shares[at] as number) * (information[at] as number);
        if (meant > most) [best, most] = [shares, meant];
      }
      return best;
    },
  };
}
