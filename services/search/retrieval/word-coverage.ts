import { createLargeCache, keptByText } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { likestTo, placeOf } from './word-likeness.ts';

/** Numbers of index tokens: texts hold these, which are compared faster than the tokens. */
type Vocabulary = Map<string, number>;

/** The words of a text: its index tokens, and `placeOf` those in the table of word senses. */
export interface TextWords {
  readonly vocabulary: Vocabulary;
  readonly tokens: readonly number[];
  readonly places: readonly number[];
}

/** The words of a passage. */
export interface PassageWords {
  /** Of its document's name and its headings. */
  readonly header: TextWords;
  readonly sentences: readonly TextWords[];
  /** Where each sentence begins in the text of the passage, and behind these where each ends. */
  readonly bounds: readonly number[];
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
  let known: Vocabulary | null = null;
  const positions = new Map<number, number>();
  /** Tells most tokens that are not looked for by the last bits of their numbers. */
  const marks = new Uint8Array(MARKS);
  return ({ vocabulary, tokens }) => {
    if (vocabulary !== known) {
      known = vocabulary;
      positions.clear();
      for (const [at, term] of terms.entries()) positions.set(numberOf(term, vocabulary), at);
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

const CACHED_WORDS = 20_000;
const LONGEST_CACHED_WORD = 40;
const cache = createLargeCache<string, Word>(CACHED_WORDS);
/** Of the texts that are read now; an older one goes with the texts that were read with it. */
let vocabulary: Vocabulary = new Map();
const MAX_VOCABULARY = 2 * CACHED_WORDS;

interface Word {
  readonly tokens: readonly string[];
  /** Numbers of the tokens in the vocabulary. */
  readonly numbers: readonly number[];
  readonly rows: readonly number[];
}

function numberOf(token: string, numbers: Vocabulary): number {
  const known = numbers.get(token);
  if (known !== undefined) return known;
  numbers.set(token, numbers.size);
  return numbers.size - 1;
}

/** Sentences of the passages that answer many questions. */
const CACHED_TEXTS = 1000;

/** The words of a text that several questions read. */
export const wordsOfText = keptByText(CACHED_TEXTS, readWords);

/** Words of the sentences of passages that a retrieval has read, by their payloads. */
const ofPayloads = new WeakMap<object, (sentence: string) => TextWords | undefined>();

/** Keeps the words of a passage for the answer that is made from it. */
export function keepWords(payload: { readonly text: string }, { sentences, bounds }: PassageWords): void {
  let known: ReadonlyMap<string, TextWords> | undefined;
  ofPayloads.set(payload, (sentence) => {
    known ??= new Map(
      sentences.map((words, at) => {
        const text = payload.text.slice(bounds[at], bounds[sentences.length + at]);
        return [text.replace(/\s+/gu, ' '), words];
      }),
    );
    return known.get(sentence);
  });
}

/** The words of a text that may be a sentence of a passage, see `keepWords`. */
export function wordsOfSentence(payload: object, text: string): TextWords {
  return ofPayloads.get(payload)?.(text) ?? wordsOfText(text);
}

/** Reads the words of a text. */
export function readWords(text: string): TextWords {
  const words = wordsIn(text);
  const tokens: number[] = [];
  const places = new Set<number>();
  for (const word of words) {
    const read = readWord(word);
    for (const token of read.numbers) tokens.push(token);
    for (const row of read.rows) places.add(placeOf(row));
  }
  for (const row of rowsOf(everydayWords().phrasesIn(words))) places.add(placeOf(row));
  return { vocabulary, tokens: tokens.slice(), places: [...places] };
}

/** Returns how many of some tokens a text has. */
export function countShared(text: string, tokens: ReadonlySet<string>): number {
  const shared = new Set<string>();
  for (const word of wordsIn(text)) {
    for (const token of readWord(word).tokens) if (tokens.has(token)) shared.add(token);
  }
  return shared.size;
}

function wordsIn(text: string): readonly string[] {
  if (vocabulary.size >= MAX_VOCABULARY) {
    cache.clear();
    vocabulary = new Map();
  }
  return text.split(/\s+/u);
}

function readWord(word: string): Word {
  const bare = withoutMarks(word);
  const known = cache.get(bare);
  if (known !== undefined) return known;
  const tokens = tokenize(bare);
  const numbers = tokens.map((token) => numberOf(token, vocabulary));
  const read = { tokens, numbers, rows: rowsOf(tokens) };
  if (bare.length > LONGEST_CACHED_WORD) return read;
  cache.set(bare, read);
  return read;
}

const MARKS_BEFORE = `"'“‘(`;
const MARKS_BEHIND = `.,;:!?"'”’)`;

/** Removes marks around a word, which are no part of its tokens: there are as many forms of it with them as without. */
function withoutMarks(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && MARKS_BEFORE.includes(word.charAt(start))) start += 1;
  while (start < end && MARKS_BEHIND.includes(word.charAt(end - 1))) end -= 1;
  return end - start === word.length ? word : word.slice(start, end);
}

/** The rows of tokens, without stop words and unknown words. */
function rowsOf(tokens: readonly string[]): readonly number[] {
  const senses = wordSenses();
  return tokens.flatMap((token) => {
    const row = STOP_WORDS.has(token) ? -1 : senses.row(token);
    return row < 0 ? [] : [row];
  });
}
