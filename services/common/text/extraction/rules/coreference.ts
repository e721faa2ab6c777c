import type { KnownName } from '../../../ports/extractor.ts';
import { isCommonWord } from '../../language/common-words.ts';
import { fold } from '../../language/fold.ts';
import { STOP_WORDS } from '../../language/stop-words.ts';
import { type EntityType, isGivenName, typeByForm, typeByGuess } from './entity-type.ts';
import { DEMONYMS, GIVEN_NAMES, PLACES } from './gazetteer.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import { isBehindPreposition } from './relations.ts';
import type { TaggedWord } from './tagger.ts';
import { LEGAL_FORMS } from './type-words.ts';

/** Nothing to unify but capitals. */
const PLAIN_NAME = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;

/** Key under which spellings of one name meet: lower case, no diacritics, full stops, apostrophes or hyphens. */
export function nameKey(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toLowerCase();
  return fold(name)
    .replace(/[.'’,]/gu, '')
    .replace(/[\s‐‑-]+/gu, ' ')
    .trim();
}

interface FullName {
  readonly name: string;
  readonly words: readonly string[];
  readonly type: EntityType | string | null;
  isPerson: boolean;
  /** By a title it was mentioned with: `Mrs. Hussey` is not Hosea Hussey. */
  gender: Gender | null;
  /** Rank of the first mention in the text; −1 for names of earlier text. */
  readonly order: number;
}

/**
 * Short names join full ones: a single word that is the first or last word of exactly one person's name, a company name
 * without its legal form, an acronym with fitting initials. Two candidates: the name stays alone, because a wrong merge
 * cannot be seen by the reader and a missing one is repaired by later text. `types`: by name, where they are settled.
 */
export function resolveNames(
  mentions: Iterable<Mention>,
  knownNames: readonly KnownName[],
  types: ReadonlyMap<string, string> = new Map(),
) {
  const known = new Map(knownNames.map((entry) => [nameKey(entry.name), fullName(entry.name, entry.type, -1, false)]));
  const own = new Map<string, FullName>();
  for (const mention of mentions) {
    if (mention.kind !== 'name' && mention.kind !== 'acronym') continue;
    const key = nameKey(mention.name);
    const type = known.get(key)?.type ?? types.get(mention.name) ?? typeByForm(mention.name, mention.kind);
    const before = own.get(key);
    const gender = genderOfTitle(mention.title ?? '');
    const name = before ?? fullName(mention.name, type, own.size, mention.isThing);
    if (mention.isThing && type === null) name.isPerson = false;
    name.gender = gender ?? name.gender;
    own.set(key, name);
  }
  const ownIndex = indexByShortName(own.values());
  const knownIndex = indexByShortName(known.values());
  const canonical = new Map<string, string>();
  for (const [key, name] of own) {
    // Earlier text has used it for itself: which fuller name it belongs to is for the whole document to say.
    const settled = known.get(key);
    const full = settled ?? fullestOf(name, ownIndex) ?? fullestOf(name, knownIndex);
    canonical.set(key, full?.name ?? name.name);
  }
  return { canonical: (name: string) => canonical.get(nameKey(name)) ?? name };
}

function fullName(name: string, type: string | null, order: number, isThing: boolean): FullName {
  const words = nameKey(name).split(' ');
  return { name, words, type, isPerson: isPersonName(name, words, type, isThing), gender: genderOfName(words), order };
}

/**
 * Longer names by the shorter ones that they can be found under: first word, last word, initials, and the name without
 * its legal forms. Keyed by the whole short name, because thousands of names may begin with the same word.
 */
function indexByShortName(names: Iterable<FullName>): ReadonlyMap<string, readonly FullName[]> {
  const index = new Map<string, FullName[]>();
  for (const name of names) {
    const { words } = name;
    if (words.length < 2) continue;
    const keys = new Set([words[0] as string, words.at(-1) as string, ...initialsOf(words)]);
    for (const key of keys) listAt(index, key).push(name);
    for (const key of withoutLegalForms(words)) if (!keys.has(key)) listAt(index, key).push(name);
  }
  return index;
}

function listAt(index: Map<string, FullName[]>, key: string): FullName[] {
  const list = index.get(key) ?? [];
  index.set(key, list);
  return list;
}

/** More legal forms behind one name are no name. */
const MAX_LEGAL_FORMS = 4;

/** `acme holdings ltd` is `acme holdings` and `acme`. */
function withoutLegalForms(words: readonly string[]): string[] {
  const found: string[] = [];
  const least = Math.max(1, words.length - MAX_LEGAL_FORMS);
  for (let length = words.length - 1; length >= least && LEGAL_FORMS.has(words[length] as string); length--) {
    found.push(words.slice(0, length).join(' '));
  }
  return found;
}

function fullestOf(short: FullName, index: ReadonlyMap<string, readonly FullName[]>): FullName | null {
  const candidates = index.get(short.words.join(' ')) ?? [];
  const matches = candidates.filter((full) => full.words.length > short.words.length && isShortFor(short, full));
  const longest = matches.toSorted((left, right) => right.words.length - left.words.length)[0];
  if (longest === undefined) return null;
  // `John Smith` and `John Q. Smith` are one candidate for `Smith`, `Ann Smith` is another.
  return isIntroduced(short, longest) && matches.every((other) => agree(other, longest)) ? longest : null;
}

function agree(short: FullName, full: FullName): boolean {
  if (short === full) return true;
  return short.words[0] === full.words[0] && short.words.at(-1) === full.words.at(-1);
}

/** A name that only looks like a person's must come first: `Wise Stubb` does not explain the Stubb of ten pages. */
function isIntroduced(short: FullName, full: FullName): boolean {
  return full.type !== null || full.order < short.order || isAcronym(short.name);
}

function isShortFor(short: FullName, full: FullName): boolean {
  const word = short.words[0] as string;
  if (short.gender !== null && full.gender !== null && short.gender !== full.gender) return false;
  if (short.words.length === 1) {
    if (isAcronym(short.name) && initialsOf(full.words).includes(word)) return true;
    if (full.isPerson && !isFixed(short)) {
      const isWord = isCommonWord(word) && !isGivenName(word);
      const isCertain = isGivenName(full.words[0] as string) || !isWord;
      return (full.words[0] === word && !isWord) || (full.words.at(-1) === word && isCertain);
    }
  }
  const rest = full.words.slice(short.words.length);
  const isPrefix = short.words.every((part, at) => full.words[at] === part);
  return isPrefix && rest.every((part) => LEGAL_FORMS.has(part));
}

/** Names that are independent although a person has them too: `Washington`, `German`. */
function isFixed(short: FullName): boolean {
  const key = short.words.join(' ');
  return PLACES.has(key) || DEMONYMS.has(key);
}

function isPersonName(name: string, words: readonly string[], type: string | null, isThing: boolean): boolean {
  if (words.length > 4 || words.some((word) => STOP_WORDS.has(word) && word !== 'will')) return false;
  return type === 'Person' || (type === null && typeByGuess(name, isThing) === 'Person');
}

const SMALL_WORDS = new Set(['of', 'the', 'and', 'for', 'in', 'on', 'de', 'la', '&']);

function isAcronym(name: string): boolean {
  return /^\p{Lu}{2,6}$/u.test(name.replaceAll('.', ''));
}

/** With and without small words: `Department of Defense` is DoD and DD. */
function initialsOf(words: readonly string[]): string[] {
  const letters = (list: readonly string[]): string => list.map((word) => word[0]).join('');
  return [letters(words.filter((word) => !SMALL_WORDS.has(word))), letters(words)];
}

/** A pronoun and the person it refers to. */
export interface PronounMention {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly isPossessive: boolean;
}

type Gender = 'male' | 'female';

const PRONOUNS: ReadonlyMap<string, Gender> = new Map(
  Object.entries<Gender>({
    he: 'male',
    him: 'male',
    his: 'male',
    himself: 'male',
    she: 'female',
    her: 'female',
    hers: 'female',
    herself: 'female',
  }),
);
const FEMALE_TITLES = new Set(['mrs', 'ms', 'miss', 'mme', 'queen', 'princess', 'lady', 'aunt']);
const MALE_TITLES = new Set(['mr', 'sir', 'king', 'prince', 'lord', 'uncle', 'father']);
/** Further back a pronoun's person is a guess. */
const SENTENCES_BACK = 2;

/**
 * Persons behind `he` and `she`: the first fitting person of the same sentence before the pronoun, else of the sentence
 * before, two back at most. First, because subjects come first and stay the topic; one behind a preposition only where
 * there is no other: in `the daughter of Josiah, she studied` it is not Josiah. A pronoun tells the gender of its person.
 */
export function resolvePronouns(
  sentences: readonly AnalysedSentence[],
  personOf: (mention: Mention) => string | null,
): PronounMention[][] {
  const genders = new Map<string, Gender>();
  const persons = sentences.map(({ words, mentions }) =>
    mentions.flatMap((mention) => {
      const name = personOf(mention);
      if (name === null) return [];
      const gender = genderOf(mention, name);
      if (gender !== null) genders.set(name, gender);
      return [{ name, start: mention.start, isGoverned: isBehindPreposition(words, mention) }];
    }),
  );
  return sentences.map(({ words }, index) => {
    const found: PronounMention[] = [];
    for (const [at, word] of words.entries()) {
      const gender = PRONOUNS.get(word.text.toLowerCase());
      if (gender === undefined) continue;
      const near = Array.from({ length: SENTENCES_BACK + 1 }, (_, back) =>
        (persons[index - back] ?? []).filter(
          ({ name, start }) => (back > 0 || start < word.start) && (genders.get(name) ?? gender) === gender,
        ),
      ).flat();
      const person = near.find(({ isGoverned }) => !isGoverned) ?? near[0];
      if (person === undefined) continue;
      genders.set(person.name, gender);
      const here = persons[index] ?? [];
      const place = here.findIndex(({ start }) => start > word.start);
      here.splice(place === -1 ? here.length : place, 0, { name: person.name, start: word.start, isGoverned: false });
      found.push({
        name: person.name,
        start: word.start,
        end: word.end,
        isPossessive: isPossessive(word, words[at + 1]),
      });
    }
    return found;
  });
}

function isPossessive({ text, pos }: TaggedWord, next: TaggedWord | undefined): boolean {
  return /^(?:[Hh]is|[Hh]ers|Her)$/u.test(text) || (/^her$/iu.test(text) && (pos !== 'PRON' || next?.pos === 'NOUN'));
}

function genderOf(mention: Mention, name: string): Gender | null {
  const title = mention.title ?? mention.name.split(' ')[0]?.toLowerCase() ?? '';
  return genderOfTitle(title) ?? genderOfName(name.toLowerCase().split(' '));
}

function genderOfTitle(title: string): Gender | null {
  if (FEMALE_TITLES.has(title)) return 'female';
  return MALE_TITLES.has(title) ? 'male' : null;
}

/** By its given name. */
function genderOfName(words: readonly string[]): Gender | null {
  const first = words[0] ?? '';
  if (!isGivenName(first)) return null;
  return GIVEN_NAMES.female.has(first) ? 'female' : 'male';
}
