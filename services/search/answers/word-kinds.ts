import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { kindOf, mostOfKind } from '../retrieval/word-likeness.ts';

const EXAMPLES = {
  person: 'john mary robert david james michael william thomas smith jones anna peter paul charles george',
  place: 'london paris germany france california texas berlin chicago italy canada river mountain city county',
  group: 'company corporation university league party association club bank committee council band',
  role: 'uncle mother friend teacher doctor neighbour driver professor engineer colleague roommate boss brother girl man',
} as const;
type WordKind = keyof typeof EXAMPLES;

export const NO_KIND = { person: 0, place: 0, group: 0 };

const directions = new Map<WordKind, Float32Array>();

function directionOf(kind: WordKind): Float32Array {
  let direction = directions.get(kind);
  if (direction === undefined) {
    direction = meanOf(EXAMPLES[kind].split(' '));
    directions.set(kind, direction);
  }
  return direction;
}

/** Returns how like the words of a name are to those of names of persons, places and groups: cosines. */
export function likenessToKinds(words: readonly string[]): Readonly<Record<keyof typeof NO_KIND, number>> {
  const mean = meanOf(words);
  return {
    person: cosine(mean, directionOf('person')),
    place: cosine(mean, directionOf('place')),
    group: cosine(mean, directionOf('group')),
  };
}

/** Returns how like a word is to those that call a person without a name, such as `uncle`. */
export function likenessToRoles(word: string): number {
  const vector = wordTable().find(word)?.vector;
  return vector === undefined ? 0 : cosine(vector, directionOf('role'));
}

function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}

const NO_VECTOR = new Float32Array();

function meanOf(words: readonly string[]): Float32Array {
  const table = wordTable();
  const sum = new Float32Array(table.dimensions);
  for (const word of words) {
    const vector = table.find(word)?.vector ?? NO_VECTOR;
    for (let at = 0; at < vector.length; at++) sum[at] = (sum[at] as number) + (vector[at] as number);
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}

/** Minimum certainty that a noun calls persons. */
const MIN_PERSON = 0.55;

/** Whether a noun calls persons by what they do or are to others: `director`, `husband`. */
export function isPerson(noun: string): boolean {
  return (kindOf('person')?.(wordSenses().row(noun)) ?? 0) >= MIN_PERSON;
}

/** Minimum likeness of a word to those that call a person without a name. */
const MIN_ROLE = 0.43;

/** Whether a word calls a person without a name: `director`, `treasurer`. */
export const isRole = (word: string): boolean => isPerson(word) || likenessToRoles(word) >= MIN_ROLE;

/** Whether a word is a noun more often than not. */
export const isNoun = (word: string): boolean => wordSenses().partsOf(wordSenses().row(word)).noun > 0.5;

/** Whether a word is more often a verb than a noun. */
export function isVerb(word: string): boolean {
  const { noun, verb } = wordSenses().partsOf(wordSenses().row(word));
  return verb > noun;
}

/** Minimum certainty that a word is of a kind. */
export const MIN_OF_KIND = 0.4;

/** Whether a word names a thing by its own word or a more special one. */
export const isOfThing = (thing: string, word: string): boolean =>
  stemOf(thing) === stemOf(word) || mostOfKind(thing, [word]) >= MIN_OF_KIND;

/** Whether the dictionary has no meaning of a word, which may be one of any kind: `oud`, `pho`. */
export function hasNoMeaning(word: string): boolean {
  const row = wordSenses().row(word);
  const { noun, verb } = row < 0 ? { noun: 0, verb: 0 } : wordSenses().partsOf(row);
  return !STOP_WORDS.has(word) && noun + verb === 0;
}
