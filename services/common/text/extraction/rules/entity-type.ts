import { isCommonWord } from '../../language/common-words.ts';
import { fold } from '../../language/fold.ts';
import { CALENDAR_WORDS } from '../../language/name-words.ts';
import type { NameKind } from '../../language/names.ts';
import { DEMONYMS, GIVEN_NAMES, PLACES } from './gazetteer.ts';
import {
  CLUB_BEGINNINGS,
  CONCEPT_ENDINGS,
  HEADING_NOUNS,
  NAME_TITLES,
  ORGANISATION_BEGINNINGS,
  ORGANISATION_ENDINGS,
  ORGANISATION_INITIALS,
  PLACE_BEGINNINGS,
  PLACE_ENDINGS,
  PLACES_AND_SURNAMES,
  ROLE_TITLES,
  TYPE_NOUNS,
  WORDS_AND_SURNAMES,
  WORK_ENDINGS,
} from './type-words.ts';

export type EntityType = 'Person' | 'Place' | 'Organisation' | 'Date' | 'Quantity' | 'Work' | 'Product' | 'Concept';

/** Votes for the type of a name by the contexts of its mentions; the sum decides. */
export type TypeVotes = Map<EntityType, number>;

export function vote(votes: TypeVotes, type: EntityType, weight = 1): void {
  votes.set(type, (votes.get(type) ?? 0) + weight);
}

/** A street, alone or with the number of a house: `Ringstrasse`, `Lindenallee 8`, `Holtenauer Strasse 112`, `Baker Street 7`. */
const ADDRESS =
  /^(?:\p{L}[\p{L}-]+(?:stra(?:ß|ss)e|allee|gasse|platz|ufer|damm)(?: \d{1,4}\p{L}?)?|\p{L}+weg \d{1,4}\p{L}?|\p{L}[\p{L}-]+ (?:stra(?:ß|ss)e|allee|gasse|platz|ufer|damm|weg|street|road|avenue) \d{1,4}\p{L}?)$/u;

export function isAddress(name: string): boolean {
  return ADDRESS.test(name.toLowerCase());
}

/** A German word for a public or private body, in lower case: `Bürgeramt Neukölln`, `Techniker Krankenkasse`, `Stadtwerke Kiel`. */
export const GERMAN_BODY =
  /(?:^|[\p{L}-])(?:kasse|ämter|(?<![dr])amt|institut|universität|hochschule|grundschule|volkshochschule|(?:volks|raiffeisen|landes|hypo|sparda)bank|gericht|ministerium|behörde|verlag|stadtwerke|klinik|klinikum|krankenhaus|verband|verein|stiftung|gesellschaft|genossenschaft|akademie|feuerwehr|versicherung)$/u;

/** Legal forms of companies, at the end of their names. */
const LEGAL_FORM =
  /\S (?:Inc|Corp|Ltd|LL[CP]|PLC|plc|G?mbH|AG|KG|KGaA|OHG|GbR|UG|SE|e\. ?[KV]|S\.? ?A(?:\.? ?S)?|S\.? ?L(?:\.? ?U)?|S\.? ?[Aà]\.? ?[Rr]\.? ?[Ll]|S[Aa][Rr][Ll]|S\.? ?R\.? ?L|S\.? ?p\.? ?A|SpA|B\.?V|N\.?V|Oy|AB|ApS|A\/S)\.?$/u;

/** Whether a name says that it is one of a company or registered body, in any language. */
export function isCompany(name: string): boolean {
  return LEGAL_FORM.test(name);
}

/** A name's type by its own words; null when they say nothing, and the context must. */
export function typeByForm(name: string, kind: NameKind): EntityType | null {
  if (kind === 'work') return 'Work';
  if (kind === 'quantity') return 'Quantity';
  if (kind === 'identifier') return 'Concept';
  const lower = name.toLowerCase();
  if (isCompany(name)) return 'Organisation';
  if (PLACES.has(lower) || isAddress(lower)) return 'Place';
  const words = lower.split(' ');
  if (words.some((word) => GERMAN_BODY.test(word))) return 'Organisation';
  const first = (words[0] ?? '').replace(/^(mt|st|ft)\.$/u, '$1');
  const last = words.at(-1) ?? '';
  if (DEMONYMS.has(lower)) return 'Concept';
  if (words.length === 1) return singleType(lower, kind);
  const head = beforeOf(words);
  if (words.length === 2 && isGivenName(first) && PLACES_AND_SURNAMES.has(head) && !PLACES.has(first)) return 'Person';
  const byHead = typeByHead(head, first, words);
  if (byHead !== null) return byHead;
  if (/\d/u.test(last)) return null;
  // `Queen of Spain` is a person, `Lord of the Rings` is not.
  if (words[1] === 'of' && words[2] === 'the') return null;
  if (ROLE_TITLES.has(first) || NAME_TITLES.has(first) || isGivenName(first) || isGivenName(first.split('-')[0] ?? ''))
    return 'Person';
  if (/^\p{L}\.$/u.test(first) || /^(?:jr|sr)\.?$/u.test(last)) return 'Person';
  if (/ (?:van|von|bin|ibn) /u.test(lower) && words.length < 5) return 'Person';
  return null;
}

/** In `University of Belgrade` and `Institute for Advanced Study` the head is in front, in `Belgrade University` at the end. */
function beforeOf(words: readonly string[]): string {
  const of = words.findIndex((word, at) => word === 'of' || (at > 0 && /^(?:for|on)$/u.test(word)));
  // `Polish Radio II`, `Studio 92`
  const last = words.length > 1 && /^(?:\d+|[ivx]+)$/u.test(words.at(-1) ?? '') ? words.at(-2) : words.at(-1);
  const head = (of > 0 ? words[of - 1] : last) ?? '';
  return /^(?:\p{L}\.){2,}$/u.test(head) ? head.replaceAll('.', '') : head.replace(/[,.]$/u, '');
}

const ORDINAL_DIVISION = /^(?:first|second|third|fourth|fifth|premier|top) division$/u;

function typeByHead(head: string, first: string, words: readonly string[]): EntityType | null {
  if (ORDINAL_DIVISION.test(words.join(' '))) return null;
  if (
    CLUB_BEGINNINGS.has(first) ||
    ORGANISATION_ENDINGS.has(head) ||
    (words.includes('of') && ORGANISATION_BEGINNINGS.has(first))
  ) {
    return 'Organisation';
  }
  if (words.includes('&') || /^(?:representatives|commons|lords|deputies)$/u.test(words.at(-1) ?? ''))
    return 'Organisation';
  if (CONCEPT_ENDINGS.has(head) || DEMONYMS.has(first)) return 'Concept';
  if (WORK_ENDINGS.has(head)) return 'Work';
  if (PLACE_ENDINGS.has(head) || PLACE_BEGINNINGS.has(first)) return 'Place';
  return null;
}

/** A doctrine, style or science in one word. */
export const DOCTRINE = /^\p{L}{4,}(?:ism|ology|graphy|nomics)$/u;

function singleType(lower: string, kind: NameKind): EntityType | null {
  if (kind === 'acronym') return ORGANISATION_INITIALS.has(lower.replaceAll('.', '')) ? 'Organisation' : null;
  if (DOCTRINE.test(lower)) return 'Concept';
  return isGivenName(lower) ? 'Person' : null;
}

export function isGivenName(word: string): boolean {
  if (GIVEN_NAMES.female.has(word) || GIVEN_NAMES.male.has(word)) return true;
  if (!/[^\u0020-\u007e]/u.test(word)) return false;
  const plain = fold(word);
  return GIVEN_NAMES.female.has(plain) || GIVEN_NAMES.male.has(plain);
}

/**
 * Nothing else known: two or three unusual words are a person more often than not, unless they come with an article
 * (`isThing`) or start with a place: `Houston Rockets`, `Greenland Whale`. In plural those are teams and peoples.
 */
export function typeByGuess(name: string, isThing = false): EntityType {
  const words = name.split(' ');
  const first = (words[0] ?? '').toLowerCase();
  const startsWithPlace =
    PLACES.has(first) || DEMONYMS.has(first) || PLACES.has(words.slice(0, 2).join(' ').toLowerCase());
  if (isThing || (startsWithPlace && !isGivenName(first))) {
    const isTeam = words.length > 1 && words.length < 5 && /[^s]s$/u.test(name) && (startsWithPlace || isThing);
    return isTeam && words.every((word) => /^\p{Lu}/u.test(word)) ? 'Organisation' : 'Concept';
  }
  const isPersonShaped =
    (words.length === 2 || words.length === 3) &&
    words.every(
      (word, at) =>
        /^\p{Lu}[\p{L}'’.-]*$/u.test(word) &&
        !/^\p{Lu}{3,}$/u.test(word) &&
        (at > 0 || !isCommonWord(word.toLowerCase())) &&
        !(at === words.length - 1 && isOrdinary(word.toLowerCase())) &&
        !/['’]s$|['’]ll$/u.test(word),
    );
  return isPersonShaped ? 'Person' : 'Concept';
}

function isOrdinary(word: string): boolean {
  if (DEMONYMS.has(word) || CALENDAR_WORDS.has(word) || word === 'christmas') return true;
  if (word.endsWith('s') && isCommonWord(word.slice(0, -1)) && !WORDS_AND_SURNAMES.has(word.slice(0, -1)))
    return !WORDS_AND_SURNAMES.has(word);
  return isCommonWord(word) && !WORDS_AND_SURNAMES.has(word);
}

/** The type of what a heading in plural names: `People`, `Tools`, `Books to read`; null for any other. */
export function typeOfHeading(heading: string): EntityType | null {
  const [noun = ''] = heading.toLowerCase().match(/\p{L}+/gu) ?? [];
  const singular = noun.replace(/(?<=.)(?:(?<=[xs]|ch)es|s)$/u, '').replace(/ie$/u, 'y');
  const type = HEADING_NOUNS.get(noun) ?? (singular === noun ? undefined : TYPE_NOUNS.get(singular));
  return (type as EntityType | undefined) ?? null;
}

export function winner(votes: TypeVotes): EntityType | null {
  let best: EntityType | null = null;
  for (const [type, weight] of votes) if (weight > (best === null ? 0 : (votes.get(best) ?? 0))) best = type;
  return best;
}
