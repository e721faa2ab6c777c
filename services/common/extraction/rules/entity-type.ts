import { isCommonWord } from '../../language/common-words.ts';
import type { NameKind } from '../../language/names.ts';
import { DEMONYMS, GIVEN_NAMES, PLACES } from './gazetteer.ts';
import {
  CONCEPT_ENDINGS,
  NAME_TITLES,
  ORGANISATION_BEGINNINGS,
  ORGANISATION_ENDINGS,
  PLACE_BEGINNINGS,
  PLACE_ENDINGS,
  ROLE_TITLES,
  WORK_ENDINGS,
} from './type-words.ts';

export type EntityType = 'Person' | 'Place' | 'Organisation' | 'Date' | 'Quantity' | 'Work' | 'Concept';

/** What the places where a name stands say about it; the sum of all its mentions decides. */
export type TypeVotes = Map<EntityType, number>;

export function vote(votes: TypeVotes, type: EntityType, weight = 1): void {
  votes.set(type, (votes.get(type) ?? 0) + weight);
}

/** A name's type by its own words; null when they say nothing, and the context must. */
export function typeByForm(name: string, kind: NameKind): EntityType | null {
  if (kind === 'work') return 'Work';
  if (kind === 'quantity') return 'Quantity';
  if (kind === 'identifier') return 'Concept';
  const lower = name.toLowerCase();
  if (PLACES.has(lower)) return 'Place';
  const words = lower.split(' ');
  const first = words[0] ?? '';
  const last = words.at(-1) ?? '';
  if (DEMONYMS.has(lower)) return 'Concept';
  if (words.length === 1) return singleType(lower, kind);
  const head = beforeOf(words);
  const byHead = typeByHead(head, first, words);
  if (byHead !== null) return byHead;
  if (ROLE_TITLES.has(first) || NAME_TITLES.has(first) || isGivenName(first)) return 'Person';
  if (/^\p{L}\.$/u.test(first) || /^(?:jr|sr)\.?$/u.test(last)) return 'Person';
  if (/ (?:van|von|de|der|bin|ibn|di|da|le) /u.test(lower) && words.length < 5) return 'Person';
  return null;
}

/** In `University of Belgrade` the head is in front, in `Belgrade University` at the end. */
function beforeOf(words: readonly string[]): string {
  const of = words.indexOf('of');
  return (of > 0 ? words[of - 1] : words.at(-1))?.replace(/[,.]$/u, '') ?? '';
}

function typeByHead(head: string, first: string, words: readonly string[]): EntityType | null {
  if (ORGANISATION_ENDINGS.has(head) || (words.includes('of') && ORGANISATION_BEGINNINGS.has(first))) {
    return 'Organisation';
  }
  if (words.includes('&')) return 'Organisation';
  if (CONCEPT_ENDINGS.has(head) || DEMONYMS.has(first)) return 'Concept';
  if (WORK_ENDINGS.has(head)) return 'Work';
  if (PLACE_ENDINGS.has(head) || PLACE_BEGINNINGS.has(first)) return 'Place';
  return null;
}

function singleType(lower: string, kind: NameKind): EntityType | null {
  if (kind === 'acronym') return 'Organisation';
  return isGivenName(lower) ? 'Person' : null;
}

export function isGivenName(word: string): boolean {
  return GIVEN_NAMES.female.has(word) || GIVEN_NAMES.male.has(word);
}

/** Nothing else known: two or three unusual words are a person more often than not. */
export function typeByGuess(name: string): EntityType {
  const words = name.split(' ');
  const isPersonShaped =
    (words.length === 2 || words.length === 3) &&
    words.every(
      (word) => /^\p{Lu}[\p{L}'’.-]*$/u.test(word) && !isCommonWord(word.toLowerCase()) && !/['’]s$/u.test(word),
    );
  return isPersonShaped ? 'Person' : 'Concept';
}

export function winner(votes: TypeVotes): EntityType | null {
  let best: EntityType | null = null;
  for (const [type, weight] of votes) if (weight > (best === null ? 0 : (votes.get(best) ?? 0))) best = type;
  return best;
}
