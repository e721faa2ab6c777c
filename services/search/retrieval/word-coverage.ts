import { readWords, type TextWords, type Vocabulary } from './vocabulary.ts';
import { likestTo } from './word-likeness.ts';

/** The words of a passage. */
export interface PassageWords {
  /** Of its document's name and its headings. */
  readonly header: TextWords;
  readonly sentences: readonly TextWords[];
}

/** A word that is looked for, and the forms of it whose likes count too; without any only the term itself counts. */
export interface WantedWord {
  readonly term: string;
  readonly words: readonly string[];
}

/**
 * Compares texts with wanted words by meaning: raises the share (0 to 1) of each wanted word to what a text has of it, 1 for the
 * term itself, else the likeness of the likest word. `found`: the terms that it has, when they were looked for before.
 */
export type RaiseCoverage = (shares: number[], text: TextWords, found?: readonly number[]) => void;

/** Returns what finds terms in texts: the place among the terms of each that a text has, in its order and with repetition. */
export function findTerms(terms: readonly string[]): (text: TextWords) => readonly number[] {
  let known: Vocabulary | undefined;
  const positions = new Map<number, number>();
  /** Tells most tokens that are not looked for by the last bits of their numbers. */
  const marks = new Uint8Array(MARKS);
  return ({ vocabulary, tokens }) => {
    if (vocabulary !== known) {
      known = vocabulary;
      positions.clear();
      for (const [at, term] of terms.entries()) positions.set(vocabulary.numberOf(term), at);
      marks.fill(0);
      for (const number of positions.keys()) marks[number % MARKS] = 1;
    }
    let found: number[] | null = null;
    for (let place = 0; place < tokens.length; place++) {
      const token = tokens[place] as number;
      if (marks[token % MARKS] === 0) continue;
      const at = positions.get(token);
      if (at === undefined) continue;
      if (found === null) found = [at];
      else found.push(at);
    }
    return found ?? NOTHING;
  };
}

const MARKS = 1024;
const NOTHING: readonly number[] = [];

export function coverageBy(wanted: readonly WantedWord[]): RaiseCoverage {
  const find = findTerms(wanted.map(({ term }) => term));
  const likes = wanted.flatMap(({ words }, at) =>
    words.flatMap((word) => {
      const likest = likestTo(word);
      return likest === null ? [] : [{ at, likest }];
    }),
  );
  return (shares, text, found = find(text)) => {
    for (const at of found) shares[at] = 1;
    for (const { at, likest } of likes) if (shares[at] !== 1) shares[at] = likest(text.places, shares[at] as number);
  };
}

/** Returns how many of some tokens a text has. */
export function countShared(tokens: readonly string[]): (text: string) => number {
  const find = findTerms(tokens);
  return (text) => new Set(find(readWords(text))).size;
}
