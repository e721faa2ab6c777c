import { STOP_WORDS } from '../../language/stop-words.ts';
import type { KnownName } from '../../ports/extractor.ts';
import { type EntityType, isGivenName, typeByForm, typeByGuess } from './entity-type.ts';
import { DEMONYMS, GIVEN_NAMES, PLACES } from './gazetteer.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import type { TaggedWord } from './tagger.ts';
import { ORGANISATION_ENDINGS } from './type-words.ts';

/** Key under which spellings of one name meet: lower case, no full stops or apostrophes. */
export function nameKey(name: string): string {
  return name
    .toLowerCase()
    .replace(/[.'’,]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Gives each name the fullest spelling that stands for the same thing. */
export interface NameResolver {
  canonical(name: string): string;
}

interface FullName {
  readonly name: string;
  readonly words: readonly string[];
  readonly type: EntityType | string | null;
}

/**
 * Short names join full ones: a single word that is the first or last word of exactly one person's name, a company name
 * without its legal form, an acronym with fitting initials. Two candidates: the name stays alone, because a wrong merge
 * cannot be seen by the reader and a missing one is repaired by later text.
 */
export function resolveNames(mentions: Iterable<Mention>, knownNames: readonly KnownName[]): NameResolver {
  const own = new Map<string, FullName>();
  for (const mention of mentions) {
    if (mention.kind !== 'name' && mention.kind !== 'acronym') continue;
    const key = nameKey(mention.name);
    if (!own.has(key)) own.set(key, fullName(mention.name, typeByForm(mention.name, mention.kind)));
  }
  const known = new Map(knownNames.map((entry) => [nameKey(entry.name), fullName(entry.name, entry.type)]));
  const canonical = new Map<string, string>();
  for (const [key, short] of own) {
    const full = fullestOf(short, [...own.values()]) ?? fullestOf(short, [...known.values()]);
    canonical.set(key, full?.name ?? known.get(key)?.name ?? short.name);
  }
  return { canonical: (name) => canonical.get(nameKey(name)) ?? name };
}

function fullName(name: string, type: string | null): FullName {
  return { name, words: nameKey(name).split(' '), type };
}

function fullestOf(short: FullName, candidates: readonly FullName[]): FullName | null {
  const matches = candidates.filter((full) => full.words.length > short.words.length && isShortFor(short, full));
  const longest = matches.toSorted((left, right) => right.words.length - left.words.length)[0];
  if (longest === undefined) return null;
  // `John Smith` and `John Q. Smith` are one candidate for `Smith`, `Ann Smith` is another.
  const isOnePerson = matches.every((other) => agree(other, longest));
  return isOnePerson ? longest : null;
}

function agree(short: FullName, full: FullName): boolean {
  if (short === full) return true;
  return short.words[0] === full.words[0] && short.words.at(-1) === full.words.at(-1);
}

function isShortFor(short: FullName, full: FullName): boolean {
  const [word = ''] = short.words;
  if (short.words.length === 1) {
    if (isAcronymOf(short.name, full.words)) return true;
    if (isPerson(full) && !isFixed(short)) return full.words[0] === word || full.words.at(-1) === word;
  }
  if (isPerson(full) && short.words.length === 2 && full.words.length === 3) {
    return full.words[0] === word && full.words.at(-1) === short.words.at(-1);
  }
  const rest = full.words.slice(short.words.length);
  const isPrefix = short.words.every((part, at) => full.words[at] === part);
  return isPrefix && rest.every((part) => ORGANISATION_ENDINGS.has(part)) && /\p{Lu}/u.test(short.name);
}

/** Names that stand for themselves although a person bears them too: `Washington`, `German`. */
function isFixed(short: FullName): boolean {
  const key = short.words.join(' ');
  return PLACES.has(key) || DEMONYMS.has(key);
}

function isPerson(full: FullName): boolean {
  if (full.words.length > 4 || full.words.some((word) => STOP_WORDS.has(word) && word !== 'will')) return false;
  return full.type === 'Person' || (full.type === null && typeByGuess(full.name) === 'Person');
}

const SMALL_WORDS = new Set(['of', 'the', 'and', 'for', 'in', 'on', 'de', 'la', '&']);

function isAcronymOf(acronym: string, words: readonly string[]): boolean {
  const letters = acronym.replaceAll('.', '');
  if (!/^\p{Lu}{2,6}$/u.test(letters)) return false;
  const initials = words.filter((word) => !SMALL_WORDS.has(word)).map((word) => word[0]);
  const all = words.map((word) => word[0]);
  return initials.join('') === letters.toLowerCase() || all.join('') === letters.toLowerCase();
}

/** A pronoun and the person it stands for. */
export interface PronounMention {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly isPossessive: boolean;
}

const PRONOUNS: Readonly<Record<string, 'male' | 'female'>> = {
  he: 'male',
  him: 'male',
  his: 'male',
  himself: 'male',
  she: 'female',
  her: 'female',
  hers: 'female',
  herself: 'female',
};
const FEMALE_TITLES = new Set(['mrs', 'ms', 'miss', 'mme', 'queen', 'princess', 'lady', 'aunt']);
const MALE_TITLES = new Set(['mr', 'sir', 'king', 'prince', 'lord', 'uncle', 'father']);
/** Further back a pronoun's person is a guess. */
const SENTENCES_BACK = 2;

/**
 * Persons behind `he` and `she`: the first fitting person of the same sentence before the pronoun, else of the sentence
 * before, two back at most. First, because subjects come first and stay the topic.
 */
export function resolvePronouns(
  sentences: readonly AnalysedSentence[],
  personOf: (mention: Mention) => string | null,
): PronounMention[][] {
  const persons = sentences.map(({ mentions }) =>
    mentions.flatMap((mention) => {
      const name = personOf(mention);
      return name === null ? [] : [{ name, start: mention.start, gender: genderOf(mention, name) }];
    }),
  );
  return sentences.map(({ words }, index) => {
    const found: PronounMention[] = [];
    for (const word of words) {
      const gender = PRONOUNS[word.text.toLowerCase()];
      if (gender === undefined) continue;
      const fits = (person: { gender: string | null }): boolean => person.gender === null || person.gender === gender;
      let person = (persons[index] ?? []).find((one) => one.start < word.start && fits(one));
      for (let back = 1; person === undefined && back <= SENTENCES_BACK; back++) {
        person = (persons[index - back] ?? []).find(fits);
      }
      if (person === undefined) continue;
      persons[index]?.push({ name: person.name, start: word.start, gender });
      found.push({ name: person.name, start: word.start, end: word.end, isPossessive: isPossessive(word) });
    }
    return found;
  });
}

function isPossessive(word: TaggedWord): boolean {
  return /^(?:his|hers)$/iu.test(word.text) || (/^her$/iu.test(word.text) && word.pos !== 'PRON');
}

function genderOf(mention: Mention, name: string): 'male' | 'female' | null {
  const title = mention.title ?? mention.name.split(' ')[0]?.toLowerCase() ?? '';
  if (FEMALE_TITLES.has(title)) return 'female';
  if (MALE_TITLES.has(title)) return 'male';
  const first = name.split(' ')[0]?.toLowerCase() ?? '';
  if (!isGivenName(first)) return null;
  return GIVEN_NAMES.female.has(first) ? 'female' : 'male';
}
