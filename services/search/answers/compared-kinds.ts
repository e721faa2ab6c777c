import { DEMONYMS } from '../../common/text/extraction/rules/gazetteer.ts';
import { placeTable } from '../../common/text/places/place-table.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { kindOf } from '../retrieval/word-likeness.ts';
import type { Compared, Said, SaidOfSide, Side } from './compared-sides.ts';
import { originIn, timeIn } from './compared-values.ts';
import { type ComparisonQuestion, named } from './comparison-question.ts';
import { professionIn } from './profession.ts';
import { contentWords, wordsOf } from './question.ts';
import { isSaid, isSameStem } from './slots.ts';

type Of<Kind extends ComparisonQuestion['kind']> = Extract<ComparisonQuestion, { readonly kind: Kind }>;

/** Whether what is said of a side has each content word of a predicate, or one that says the same. */
function holds(predicate: readonly string[], said: readonly SaidOfSide[]): SaidOfSide | null {
  return (
    said.find(({ part }) => {
      const words = contentWords(part);
      return predicate.length > 0 && predicate.every((word) => isOneOf(word, words));
    }) ?? null
  );
}

function isOneOf(word: string, words: readonly string[]): boolean {
  if (words.some((one) => isSameStem(word, one))) return true;
  // The kinds of `dogs` are those of `dog`.
  const ofKind = kindOf(word.replace(/(?<=[^s])s$/u, '')) ?? kindOf(word);
  return isSaid(word, words) || (ofKind !== null && words.some((one) => ofKind(wordSenses().row(one)) >= MIN_OF_KIND));
}

const MIN_OF_KIND = 0.5;
const DEFINITION =
  /^(?:[^.;]{1,120}?)\b(?:is|are|was|were) (?:now |also )?(?:an?|the|one) ([^.;]{3,160})|^[^.;,]{1,60}, (?:an?|the|my|our) ([^.;,]{3,80})/iu;

const definitionOf = (said: readonly SaidOfSide[]): SaidOfSide | null =>
  said.find(({ part }) => DEFINITION.test(part)) ?? null;

const sides: readonly Side[] = [0, 1];

/** Tells which side is what a predicate says, where the other one is said to be something else. */
export function byPredicate({ said: predicate, sides: names }: Of<'which'>, said: Said): Compared | null {
  const words = contentWords(predicate);
  const held = sides.map((side) => holds(words, said[side]));
  const defined = sides.map((side) => definitionOf(said[side]));
  for (const side of sides) {
    const [own, other] = [held[side], held[1 - side]];
    const beside = defined[1 - side];
    if (own != null && other === null && beside != null) return { answer: named(names[side]), proofs: [own, beside] };
  }
  return null;
}

/** Tells whether both sides are what a predicate says. */
export function ofBoth({ said: predicate }: Of<'both'>, said: Said): Compared | null {
  const words = contentWords(predicate);
  const place = /^(.*?)(?:\b(?:located|situated|based) )?in the same (\p{Ll}+)/u.exec(predicate);
  if (place !== null) return ofSame({ kind: 'same', sides: ['', ''], noun: place[2] ?? '', said: 'located' }, said);
  const held = sides.map((side) => holds(words, said[side]));
  if (held[0] != null && held[1] != null) return { answer: 'Yes', proofs: [held[0], held[1]] };
  const other = sides.map((side) => (held[side] == null ? otherKind(words, said[side]) : null));
  if (other[0] == null && other[1] == null) return null;
  const proofs = sides.flatMap((side) => held[side] ?? other[side] ?? definitionOf(said[side]) ?? []);
  return proofs.length < 2 ? null : { answer: 'No', proofs };
}

/** The sentence that says that a side is something else of the same kind: a newspaper and no magazine. */
function otherKind(words: readonly string[], said: readonly SaidOfSide[]): SaidOfSide | null {
  const defined = definitionOf(said);
  const what =
    DEFINITION.exec(defined?.part ?? '')
      ?.slice(1)
      .find(Boolean) ?? '';
  const is = wordsOf(what);
  const lost = words.filter((word) => !isOneOf(word, contentWords(said.map(({ part }) => part).join(' '))));
  const isOther = lost.some((word) => is.some((one) => areAlike(word, one)));
  return isOther ? defined : null;
}

const MIN_ALIKE = 0.4;

/** Whether two words are different values of one kind: `magazine` and `newspaper`, `British` and `American`. */
function areAlike(one: string, other: string): boolean {
  if (DEMONYMS.has(one) || DEMONYMS.has(other)) return DEMONYMS.has(one) && DEMONYMS.has(other) && one !== other;
  const isNoun = (word: string) => wordSenses().partsOf(Math.max(0, wordSenses().row(word))).noun >= MIN_NOUN;
  return !isSameStem(one, other) && isNoun(other) && wordTable().similarity(one, other) >= MIN_ALIKE;
}

const MIN_NOUN = 0.5;

interface NamedValue {
  readonly value: string;
  readonly said: SaidOfSide;
}

/** Tells whether a noun such as `city` has one value for both sides. */
export function ofSame({ noun, said: predicate }: Of<'same'>, said: Said): Compared | null {
  const [one, other] = sides.map((side) => valueOfNoun(noun, predicate, said[side]));
  if (one == null || other == null) return null;
  const isSame = areSame(one.value, other.value);
  // England and France may be told by cities or regions, which are no countries.
  if (isSame === false && COUNTRY.test(noun) && ![one, other].every(({ value }) => isNation(value))) return null;
  return isSame === null ? null : { answer: isSame ? 'Yes' : 'No', proofs: [one.said, other.said] };
}

const COUNTRY = /^(?:countr|nation)/u;
const CITY = /^(?:cit|town|village|place|street|suburb|neighbourhood|district)/u;
const STATE = /^(?:state|provinc|county|counties|region|island|continent)/u;
const GROUP =
  /^(?:compan|firm|school|universit|team|club|office|hotel|band|department|hospital|building|employer|bank|insurer|dentist|doctor|vet)/u;
const TIME = /^(?:year|month|day|date|birthday)$/u;
const JOB = /^(?:job|profession|occupation|trade)/u;
const KIND = /^(?:kind|type|genre|breed|species)/u;

/** Returns the value of a noun such as `city` that is told of a side, in lower case; null without one. */
function valueOfNoun(noun: string, predicate: string, said: readonly SaidOfSide[]): NamedValue | null {
  const verbs = contentWords(predicate).filter((word) => !OF_PLACE.test(word));
  const isOrigin = /\bfrom\b/u.test(predicate);
  for (const one of said) {
    if (isOrigin && !SAYS_ORIGIN.test(one.part)) continue;
    if (verbs.length > 0 && !verbs.every((verb) => isSaid(verb, contentWords(one.statement.text)))) continue;
    const value = readNoun(noun, predicate, one);
    if (value !== null) return { value: value.toLowerCase(), said: one };
  }
  return null;
}

const SAYS_ORIGIN = /\bfrom\b|\bborn\b|\bnative\b|\bgrew up\b|\b(?:is|was|are|were) an? \p{Lu}\p{Ll}+/u;
const OF_PLACE = /^(?:come|comes|from|located|situated|based|lie|lies|originate|share|have|belong)$/u;
const PLACES =
  /\b(?:in|from|at|near|for|of|with) ((?:the )?(?:(?:north|south|east|west|central)\p{L}* )?\p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*)*(?:, \p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*)*)*)/gu;

function readNoun(noun: string, predicate: string, said: SaidOfSide): string | null {
  const { part } = said;
  if (TIME.test(noun)) {
    const time = /\b(?:born|founded|birthday)\b/u.test(`${predicate} ${noun}`) ? originIn(said) : timeIn([], said);
    const length = noun === 'year' ? 4 : noun === 'month' ? 7 : 10;
    return time === null ? null : new Date(time.from).toISOString().slice(noun === 'birthday' ? 5 : 0, length);
  }
  if (JOB.test(noun)) return professionIn(part);
  if (KIND.test(noun)) return /\b(?:is|was) (?:now )?an? ((?:\p{Ll}+ )?\p{Ll}+)/u.exec(part)?.[1] ?? null;
  const chains = [...part.matchAll(PLACES)].map(([, names = '']) => names.replace(/^the |\.$/gu, '').split(', '));
  const { levels } = placeTable();
  if (COUNTRY.test(noun)) {
    const nation = wordsOf(part).find((word) => DEMONYMS.has(word));
    const isDefined = /(?:\b(?:is|was|are|were)|,) an? /u.test(part);
    const region = chains.flat().findLast((name) => levels(name).includes('region'));
    return chains.flat().find(isCountry) ?? (isDefined ? nation : undefined) ?? region ?? null;
  }
  if (STATE.test(noun)) {
    const beside = new RegExp(`(\\p{Lu}\\p{L}+) ${noun}(?!\\p{L})|\\b${noun} of (\\p{Lu}\\p{L}+)`, 'u').exec(part);
    const wider = chains.find((names) => names.length > 1)?.filter((name) => !isCountry(name));
    return beside?.slice(1).find(Boolean) ?? wider?.at(-1) ?? null;
  }
  if (CITY.test(noun)) return chains.find(([name = '']) => !isCountry(name))?.[0] ?? null;
  if (GROUP.test(noun)) return chains.flat().find((name) => levels(name).length === 0) ?? null;
  return null;
}

/** Whether two values are the same; null when they may be. */
function areSame(one: string, other: string): boolean | null {
  if (one === other) return true;
  const { areSame: areSamePlace, liesIn } = placeTable();
  if (areSamePlace(one, other)) return true;
  if (liesIn(one, other) || liesIn(other, one)) return null;
  const isNation = [one, other].map((value) => DEMONYMS.has(value));
  // `Scottish` may be British, and `French` is of France.
  if (isNation[0] !== isNation[1] || [one, other].includes('british') || [one, other].includes('european')) return null;
  return false;
}

const isCountry = (name: string) => placeTable().levels(name).includes('country');
const isNation = (value: string) => DEMONYMS.has(value) || isCountry(value);
