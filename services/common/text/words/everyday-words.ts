import { EVERYDAY_GROUPS } from './everyday-groups.ts';
import { wordSenses } from './word-senses.ts';
import { wordTable } from './word-table.ts';

/** Groups of words and phrases that say the same in everyday life. Words are rows of `wordSenses`. */
interface EverydayWords {
  /** Returns how far other words say what a word asks for, 0 to 1; null for a word of no group. */
  likenessTo(row: number): ((other: number) => number) | null;
  /** Returns the members of a kind; empty for a word that is no such kind. */
  kindOf(row: number): ReadonlySet<number>;
  /** Returns the lemmas of the groups of a word. */
  near(row: number): readonly string[];
  /** Returns words that say the same as the phrases in a text, of which it takes the words: `babysit` for `looked after`. */
  phrasesIn(words: readonly string[]): readonly string[];
  /** The same for the phrases that begin at a place. */
  phrasesAt(words: readonly string[], at: number): readonly string[];
  /** Whether phrases begin with a word. */
  beginsPhrase(word: string): boolean;
  /** Number of words of the longest phrase. */
  readonly longestPhrase: number;
}

interface Group {
  readonly lemmas: readonly string[];
  /** How surely each row says the same. */
  readonly shares: ReadonlyMap<number, number>;
  /** Rows of the kind; null for a group of words that say the same. */
  readonly kind: ReadonlySet<number> | null;
}

interface Phrase {
  readonly rest: readonly string[];
  readonly word: string;
}

/** How surely a word of a group says the same: common words have many meanings. */
const SAME = 0.8;
const LEAST_COMMON = 0.4;
const COMMON_RANK = 20;
const RARE_RANK = 10_000;

let shared: EverydayWords | undefined;

/** The groups, read on first use. */
export function everydayWords(): EverydayWords {
  shared ??= readGroups();
  return shared;
}

function readGroups(): EverydayWords {
  const senses = wordSenses();
  const groupsOf = new Map<number, Group[]>();
  const phrases = new Map<string, Phrase[]>();
  for (const line of EVERYDAY_GROUPS.trim().split('\n')) {
    const entries = line.split(/[,:] /u);
    const words = entries.filter((entry) => !entry.includes(' '));
    const rows = words.map((entry) => formsOf(entry).flatMap((form) => Math.max(-1, senses.row(form))));
    const group: Group = {
      lemmas: words.map(lemmaOf),
      shares: new Map(rows.flat().flatMap((row) => (row < 0 ? [] : [[row, sureness(row)] as const]))),
      kind: line.includes(':') ? new Set(rows[0]) : null,
    };
    for (const row of group.kind ?? group.shares.keys()) add(groupsOf, row, group);
    for (const phrase of entries.filter((entry) => entry.includes(' '))) {
      const [first = '', ...rest] = phrase.split(' ');
      for (const form of formsOf(first)) add(phrases, form, { rest, word: lemmaOf(line.split(/[,:] /u)[0] ?? '') });
    }
  }
  const groups = (row: number) => groupsOf.get(row) ?? [];
  return {
    likenessTo(row) {
      const own = groupsOf.get(row);
      if (own === undefined) return null;
      return (other) => own.reduce((most, { shares }) => Math.max(most, shares.get(other) ?? 0), 0);
    },
    kindOf: (row) => new Set(groups(row).flatMap(({ shares, kind }) => (kind === null ? [] : [...shares.keys()]))),
    near: (row) => [...new Set(groups(row).flatMap(({ lemmas }) => lemmas))],
    phrasesIn: (words) => words.flatMap((_, at) => readPhrases(words, at, phrases)),
    phrasesAt: (words, at) => readPhrases(words, at, phrases),
    beginsPhrase: (word) => phrases.has(word),
    longestPhrase: [...phrases.values()].flat().reduce((longest, { rest }) => Math.max(longest, 1 + rest.length), 0),
  };
}

function readPhrases(
  words: readonly string[],
  at: number,
  phrases: ReadonlyMap<string, readonly Phrase[]>,
): readonly string[] {
  const known = phrases.get(words[at] as string);
  if (known === undefined) return NOTHING;
  return known.flatMap(({ rest, word }) =>
    rest.every((next, place) => isWord(words[at + 1 + place], next)) ? [word] : [],
  );
}

const NOTHING: readonly string[] = [];

/** Whether a text has a word, perhaps with a sign behind it. */
const isWord = (text: string | undefined, word: string) =>
  text === word || (text?.length === word.length + 1 && text.startsWith(word) && !/\p{L}$/u.test(text));

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

function sureness(row: number): number {
  const table = wordTable();
  const rank = row < table.size ? (table.find(table.wordAt(row))?.rank ?? RARE_RANK) : RARE_RANK;
  return SAME * Math.min(1, LEAST_COMMON + Math.log(1 + rank / COMMON_RANK) / Math.log(1 + RARE_RANK / COMMON_RANK));
}

const lemmaOf = (entry: string) => entry.split(/[/ ]/u)[0] ?? '';

/** Returns the forms of `break/broke/broken`. */
function formsOf(entry: string): readonly string[] {
  const [lemma = '', ...irregular] = entry.split('/');
  const stem = lemma.replace(/e$/u, '');
  const doubled = /[^aeiou][aeiou][bdgmnprt]$/u.test(lemma) ? `${lemma}${lemma.at(-1)}` : stem;
  const ending = /(?<=[^aeiou])y$/u.test(lemma) ? lemma.replace(/y$/u, 'i') : null;
  const plural = ending !== null ? `${ending}es` : /(?:s|x|z|ch|sh)$/u.test(lemma) ? `${lemma}es` : `${lemma}s`;
  return [...new Set([lemma, ...irregular, plural, `${ending ?? doubled}ed`, `${doubled}ing`])];
}
