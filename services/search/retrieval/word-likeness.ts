import { recentlyUsed } from '../../common/kernel/recently-used.ts';
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
/** Pairs of words whose likeness is kept: 2.3 MB. A pair has one place, where the newest stays. */
const CACHED_PAIRS = 2 ** 18;
/** Likeness is kept in one byte. */
const SHARE_STEPS = 250;

const pairs = new Float64Array(CACHED_PAIRS).fill(-1);
const likenessOfPairs = new Uint8Array(CACHED_PAIRS);

/** Returns how far a word of a row of `wordSenses` says what another one asks for, 0 to 0.99. */
type LikenessOfRow = (row: number) => number;

/** Returns the likeness of the likest of some rows, or `least` when that is more. */
type LikestOfRows = (rows: readonly number[], least: number) => number;

interface Likeness {
  readonly of: LikenessOfRow;
  readonly most: LikestOfRows;
}

const likenesses = new Map<string, Likeness>();

/**
 * Returns how far other words say what a lower-case word asks for: the square of the cosine of their vectors, or more when
 * they are synonyms, of its kind or of one everyday group; null for an unknown word. Questions repeat words.
 */
export function likenessTo(word: string): LikenessOfRow | null {
  return likeness(word)?.of ?? null;
}

/** The same for many rows at once. */
export function likestTo(word: string): LikestOfRows | null {
  return likeness(word)?.most ?? null;
}

function likeness(word: string): Likeness | null {
  const [table, senses] = [wordTable(), wordSenses()];
  const wanted = senses.row(word);
  if (wanted < 0) return null;
  return recentlyUsed(likenesses, CACHED_WORDS, word, () => {
    const bySense = senses.likenessTo(wanted);
    const everyday = everydayWords().likenessTo(wanted) ?? (() => 0);
    let derived: readonly number[] | undefined;
    const compare = (row: number): number => {
      const cosine = table.cosineOf(wanted, row);
      const byVector = cosine < MIN_SIMILARITY ? 0 : cosine * cosine;
      derived ??= derivedFrom(word);
      const byRoot = derived.includes(row) ? DERIVED : 0;
      const share = Math.max(byVector, bySense(row, cosine), everyday(row), byRoot);
      return Math.round(SHARE_STEPS * Math.min(MAX_LIKENESS, share));
    };
    const [first, start] = [wanted * senses.size, Math.imul(wanted, 0x9e3779b1)];
    const stepsOf = (row: number): number => {
      const place = (start + Math.imul(row, 0x85ebca6b)) >>> 14;
      if (pairs[place] !== first + row) {
        likenessOfPairs[place] = compare(row);
        pairs[place] = first + row;
      }
      return likenessOfPairs[place] as number;
    };
    return {
      of: (row) => (row < 0 ? 0 : stepsOf(row) / SHARE_STEPS),
      most(rows, least) {
        let most = 0;
        for (let at = 0; at < rows.length; at++) most = Math.max(most, stepsOf(rows[at] as number));
        return Math.max(least, most / SHARE_STEPS);
      },
    };
  });
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
