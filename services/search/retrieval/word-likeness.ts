import { createLargeCache, recentlyUsed } from '../../common/kernel/recently-used.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';

/** Cosine of two words below which they are taken as unrelated. */
const MIN_SIMILARITY = 0.4;
/** Below 1, which says that a text has the very word. */
const MAX_LIKENESS = 0.99;
/** Words whose meanings are kept. */
const CACHED_WORDS = 128;
/** Room for the likeness of words to the words of texts, of which each takes a byte: of 800 words after a novel. */
const KEPT_BYTES = 8 * 1024 * 1024;
const MIN_KEPT_WORDS = 256;
/** Words of texts that are counted at least, since more will come. */
const MIN_PLACES = 4096;
/** Likeness is kept in one byte. */
const SHARE_STEPS = 250;
const UNKNOWN = 255;

/** Returns how far a word of a row of `wordSenses` says what another one asks for, 0 to 0.99. */
type LikenessOfRow = (row: number) => number;

/** Returns the likeness of the likest of some words, by their `placeOf`, or `least` when that is more. */
type LikestOfPlaces = (places: readonly number[], least: number) => number;

interface Likeness {
  readonly of: LikenessOfRow;
  readonly most: LikestOfPlaces;
}

/** Rows of the words that were compared, in the order of their first use. */
const rowsByPlace: number[] = [];
const places = new Map<number, number>();

/** Numbers the rows of words in use, which are few of all: what is kept by these numbers lies close together. */
export function placeOf(row: number): number {
  const known = places.get(row);
  if (known !== undefined) return known;
  places.set(row, rowsByPlace.length);
  return rowsByPlace.push(row) - 1;
}

/** The row of a place. */
export const rowAt = (place: number): number => rowsByPlace[place] as number;

const comparers = createLargeCache<string, (row: number) => number>(CACHED_WORDS);
const likenesses = createLargeCache<string, Likeness>(() =>
  Math.max(MIN_KEPT_WORDS, KEPT_BYTES / Math.max(MIN_PLACES, rowsByPlace.length)),
);

/**
 * Returns how far other words say what a lower-case word asks for: the square of the cosine of their vectors, or more when
 * they are synonyms, of its kind or of one everyday group; null for an unknown word. Questions repeat words.
 */
export function likenessTo(word: string): LikenessOfRow | null {
  return likeness(word)?.of ?? null;
}

/** The same for many words at once. */
export function likestTo(word: string): LikestOfPlaces | null {
  return likeness(word)?.most ?? null;
}

function likeness(word: string): Likeness | null {
  const known = likenesses.get(word);
  if (known !== undefined) return known;
  const wanted = wordSenses().row(word);
  if (wanted < 0) return null;
  const made = createLikeness(word, wanted);
  likenesses.set(word, made);
  return made;
}

function createLikeness(word: string, wanted: number): Likeness {
  let steps = new Uint8Array();
  const stepOf = (place: number): number => {
    const known = steps[place];
    if (known !== undefined && known !== UNKNOWN) return known;
    const step = comparing(word, wanted)(rowsByPlace[place] as number);
    if (place >= steps.length) steps = longer(steps);
    steps[place] = step;
    return step;
  };
  return {
    of: (row) => (row < 0 ? 0 : stepOf(placeOf(row)) / SHARE_STEPS),
    most(words, least) {
      let most = 0;
      for (let at = 0; at < words.length; at++) most = Math.max(most, stepOf(words[at] as number));
      return Math.max(least, most / SHARE_STEPS);
    },
  };
}

/** Room for the likeness to all words in use. */
function longer(steps: Uint8Array): Uint8Array<ArrayBuffer> {
  const room = new Uint8Array(Math.max(rowsByPlace.length, 2 * steps.length)).fill(UNKNOWN);
  room.set(steps);
  return room;
}

/** Returns what compares a word with those of other rows, in steps. */
function comparing(word: string, wanted: number): (row: number) => number {
  const known = comparers.get(word);
  if (known !== undefined) return known;
  const [table, bySense] = [wordTable(), wordSenses().likenessTo(wanted)];
  const everyday = everydayWords().likenessTo(wanted) ?? (() => 0);
  const derived = derivedFrom(word);
  const made = (row: number) => {
    const cosine = table.cosineOf(wanted, row);
    const byVector = cosine < MIN_SIMILARITY ? 0 : cosine * cosine;
    const byRoot = derived.includes(row) ? DERIVED : 0;
    const share = Math.max(byVector, bySense(row, cosine), everyday(row), byRoot);
    return Math.round(SHARE_STEPS * Math.min(MAX_LIKENESS, share));
  };
  comparers.set(word, made);
  return made;
}

/** How far words of one root say the same: `conducts` and `conductor`. */
const DERIVED = 0.7;
const SUFFIX = /(?:er|or|ion|ation|ment|ist)s?$/u;
const SUFFIXES = 'er,ers,or,ors,ion,ation,ment,ist'.split(',');
const FORMS = ',e,s,es,ed,ing'.split(',');
/** Minimum length of a root. */
const MIN_ROOT = 4;

/** Returns the rows of the nouns of a verb, and of the verb of such a noun. */
function derivedFrom(word: string): readonly number[] {
  const [root, stem] = [word.replace(SUFFIX, ''), stemOf(word)];
  const forms = root === word ? SUFFIXES.map((suffix) => stem + suffix) : FORMS.map((form) => root + form);
  if (Math.min(root.length, stem.length) < MIN_ROOT) return [];
  return forms.map((form) => wordTable().row(form)).filter((row) => row >= 0);
}

/** How sure a member of a kind in the everyday groups is of it. */
const OF_EVERYDAY_KIND = 0.8;
const kinds = new Map<string, LikenessOfRow>();

/**
 * Returns how sure words of rows of `wordSenses` are synonyms of a kind or of it, 0 to 1: `guitar` of `instrument`; null for
 * an unknown kind.
 */
export function kindOf(kind: string): LikenessOfRow | null {
  const [table, senses] = [wordTable(), wordSenses()];
  const wanted = senses.row(kind);
  if (wanted < 0) return null;
  return recentlyUsed(kinds, CACHED_WORDS, kind, () => {
    const known = new Map<number, number>();
    const bySense = senses.kindOf(wanted);
    const everyday = everydayWords().kindOf(wanted);
    return (row) => {
      let share = known.get(row);
      if (share === undefined) {
        share = Math.max(bySense(row, table.cosineOf(wanted, row)), everyday.has(row) ? OF_EVERYDAY_KIND : 0);
        known.set(row, share);
      }
      return share;
    };
  });
}

/** Returns how sure the surest of some words is a synonym of a kind or of it, 0 to 1. */
export function mostOfKind(kind: string, words: readonly string[]): number {
  const ofKind = kindOf(kind);
  return ofKind === null ? 0 : words.reduce((most, word) => Math.max(most, ofKind(wordSenses().row(word))), 0);
}
