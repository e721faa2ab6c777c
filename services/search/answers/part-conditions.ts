import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { likenessTo } from '../retrieval/word-likeness.ts';
import type { Said } from './event-conditions.ts';
import { workAsked } from './profession.ts';
import { countedIn } from './quantities.ts';
import { type Asked, contentWords, isNewTo, wordsOf } from './question.ts';
import { isRelative, relativesLike } from './relatives.ts';
import { CURRENCIES, LENGTH_UNITS, MONTHS, NUMERALS, spansOf, TIME_UNITS } from './spans.ts';
import { hasNoMeaning, isOfThing, isPerson, likenessToKinds, likenessToRoles } from './word-kinds.ts';

/** What of a question is unsaid, or another one: a thing or its name, a number, a time, a person, or one of several. */
type Part = 'subject' | 'name' | 'count' | 'event' | 'person' | 'doer' | 'kind';

const CONDITIONS: readonly (readonly [Part, (question: Asked, said: readonly Said[]) => boolean])[] = [
  ['subject', isOwnerOfPropertyUnsaid],
  ['name', isMakeUnsaid],
  ['name', isTitleUnsaid],
  ['name', isDesignationUnsaid],
  ['count', isCodeUnsaid],
  ['subject', isSkillUnsaid],
  ['subject', isPriceOfOther],
  ['person', isRelationUnsaid],
  ['doer', isThiefUnknown],
  ['subject', isOwnKindUnsaid],
  ['person', isWorkOfOther],
  ['event', isOfOtherMonth],
  ['kind', isOfOtherOrder],
  ['count', isCountOfOther],
  ['person', isAgeOfSpeaker],
  ['event', isDeedUnsaid],
];

/** Returns which part of a question its best sentences, best first, surely do not say; null when they may say all. */
export const unmetPart = (question: Asked, said: readonly Said[]): Part | null =>
  CONDITIONS.find(([, isUnmet]) => isUnmet(question, said))?.[0] ?? null;

const wordsAround = ({ text, context }: Said) => `${text} ${context}`;
/** Minimum likeness of a word that says another one. */
const MIN_LIKENESS = 0.4;

/** Whether a text has a word, or one that says much the same. */
function says(text: string, word: string, least = MIN_LIKENESS): boolean {
  const like = likenessTo(word);
  const isSame = (other: string) =>
    stemOf(other) === stemOf(word) ||
    (like?.(wordSenses().row(other)) ?? 0) >= least ||
    relativesLike(word).includes(other);
  return wordsOf(text).some(isSame);
}

/** `What colour is our car?`, `Which brand is the coffee machine?`, `What colour are Luna's eyes?` */
const ASKS_PROPERTY =
  /\b(?:what|which) (colou?r|size|shape|make|brand|model|material) (?:is|are|was|were) (?:(?:my|our|the|his|her|their) |\p{L}+['’]s? )(?:\p{Ll}+ ){0,2}?(\p{Ll}+)\s*\??$/iu;

const isAbout = (thing: string) => (one: Said) => contentWords(wordsAround(one)).some((word) => isOfThing(thing, word));

/** Whether no sentence is about the thing of which a property is asked: `a patch on her ear` for the colour of her eyes. */
function isOwnerOfPropertyUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  const thing = ASKS_PROPERTY.exec(text.trim())?.[2];
  return thing !== undefined && !said.some(isAbout(thing));
}

/** How much liker to names of persons than to others a name is that is of no make; and to names of places. */
const PERSON = 0.15;
const PLACE = 0.25;
const MONTH = new RegExp(`\\b(?:${MONTHS})\\b`, 'gu');

/** Whether no sentence about a thing has a name that its make could have: `My laptop fell into the bath in 2022.` */
function isMakeUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  const [, property = '', thing] = ASKS_PROPERTY.exec(text.trim()) ?? [];
  if (thing === undefined || !/make|brand|model/iu.test(property)) return false;
  const isNew = isNewTo(text);
  const isMake = (name: string) => {
    if (name.search(MONTH) >= 0) return false;
    const words = wordsOf(name).filter((word) => isNew(word) && !/^\d+$/u.test(word));
    const { person, place, group } = likenessToKinds(words);
    return words.length > 0 && person - Math.max(group, place) <= PERSON && place - Math.max(group, person) <= PLACE;
  };
  return said
    .filter(isAbout(thing))
    .every((one) => !spansOf(one.text, ['name', 'title']).some((span) => isMake(span.text)));
}

const ASKS_TITLE = /\btitle of\b|\b(?:what|which) (?:is|was) .+ (?:titled|entitled)\b/iu;
const HAS_TITLE = /["“‘*_«„]\p{Lu}|\b(?:called|titled|entitled|named|title)\b/u;

/** Whether no sentence has a title, nor a word for one. */
function isTitleUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  return (
    ASKS_TITLE.test(text) && said.every((one) => spansOf(one.text, ['title']).length === 0 && !HAS_TITLE.test(one.text))
  );
}

/** A name with a number in it: `HTTP/3`, `IPv6`, `X-200`. */
const DESIGNATION = /(?<![\p{L}\p{N}])\p{L}[\p{L}+-]*[./-]?\d[\p{L}\p{N}.]*(?<!\.)/gu;
/** A name of code: `maxRetries`, `max_retries`. */
const IDENTIFIER =
  /(?<![\p{L}\p{N}_])(?:\p{Ll}{2,}\p{Lu}[\p{L}\p{N}]*|[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+)(?![\p{L}\p{N}_])/gu;

/**
 * Whether no sentence has the name with a number of which a question asks whether something is so, or how it is done, or the
 * name of code that it asks anything about.
 */
export function isDesignationUnsaid({ text, type }: Asked, said: readonly Said[]): boolean {
  const names = [
    ...(type === 'yes-no' || type === 'way' ? (text.match(DESIGNATION) ?? []) : []),
    ...(text.match(IDENTIFIER) ?? []),
  ];
  const plain = (one: string) => one.toLowerCase().replace(/[\s._/-]/gu, '');
  return names.some((name) => said.every((one) => !plain(wordsAround(one)).includes(plain(name))));
}

/** `What is my tax number?`, `What is the licence plate of the van?` */
const ASKS_CODE =
  /\bwhat(?:['’]s| is| was) (?:the|my|our|his|her|their|\p{L}+['’]s?)(?: \p{L}+){0,3}? (?:number|plate|IBAN|PIN|password|passphrase)\b/iu;
const QUANTITY = new RegExp(
  `(?<![\\p{L}\\d])(?:[£€$] ?)?\\d[\\d.,]*(?: ?[€%°]| (?:${MONTHS}|${CURRENCIES}|${TIME_UNITS}|${LENGTH_UNITS}|percent|per cent|times|people|kg|cm|lit(?:er|re)s?)(?!\\p{L}))|(?<!\\d)(?:1[89]|20)\\d\\d(?!\\d)`,
  'gu',
);
const PASSWORD = /\bpass(?:word|phrase) (?:is|was)\b|\bpass(?:word|phrase):|["“]/iu;

/** Whether no sentence has a number that is no date or quantity, when a question asks for one that identifies something. */
function isCodeUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  if (!ASKS_CODE.test(text)) return false;
  const isPassword = /\bpass(?:word|phrase)/iu.test(text);
  return said.every((one) => !(isPassword ? PASSWORD : /\d/u).test(one.text.replace(QUANTITY, '')));
}

/** `Who taught me to play the guitar?`, `Where did I learn to drive?` */
const ASKS_SKILL =
  /\b(?:taught|teach(?:es)?|learn(?:s|ed|t|ing)?) (?:(?:me|us|him|her|them) )?(?:(?:how )?to (\p{Ll}+)(?: (?:the |an? )?(\p{Ll}+))?|the (\p{Ll}+))/iu;
const MIN_SKILL = 0.5;

/** Whether no sentence tells of what was taught or learned. */
function isSkillUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  const [, verb, object, thing] = ASKS_SKILL.exec(text) ?? [];
  const isNamed = (word: string) => {
    const { noun, verb: deed } = wordSenses().partsOf(wordSenses().row(word));
    return !STOP_WORDS.has(word) && noun + deed > 0.5;
  };
  const skill = [thing, object, verb].find((word) => word !== undefined && isNamed(word));
  return skill !== undefined && said.every((one) => !says(wordsAround(one), skill, MIN_SKILL));
}

const A_THING = '(?:(?:the|my|our|an?|his|her|their|this|that) )?(?:\\p{Ll}+ )?(\\p{Ll}+)';
const ASKS_PRICE = new RegExp(
  [
    `\\b(?:how much|what) (?:did|do|does|is|was|were|are|will) ${A_THING} (?:costs?|worth)\\b`,
    `\\b(?:how much\\b.*\\b(?:get|got)|(?:how much|what)\\b.*\\b(?:pay|paid|spend|spent)) for ${A_THING}\\??$`,
  ].join('|'),
  'iu',
);
const MIN_PRICED = 0.35;
const AMOUNT = new RegExp(`\\d|\\b(?:${NUMERALS}|free|nothing|gifts?|presents?)\\b`, 'iu');

/** Whether every sentence with an amount is about something else than what a question asks the price of. */
function isPriceOfOther({ text }: Asked, said: readonly Said[]): boolean {
  const thing = ASKS_PRICE.exec(text.trim())
    ?.slice(1)
    .find((word) => word !== undefined);
  if (thing === undefined || STOP_WORDS.has(thing)) return false;
  return said.every((one) => !AMOUNT.test(one.text) || !says(wordsAround(one), thing, MIN_PRICED));
}

/** `the name of the instructor's husband`, `my dentist's wife`; not a part in a play. */
const RELATION = /['’]s? (\p{Ll}{3,})\b/u;
const PLAYED = /\b(?:play|act|star|voice)/iu;
const MARRIED = /\b(?:marri|marry|wed)/iu;
/** Minimum likeness of a word to those that call a person without a name. */
const MIN_ROLE = 0.5;

/** Whether no sentence tells of the relative, friend or the like of somebody that a question asks about. */
function isRelationUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  const relation = RELATION.exec(text)?.[1];
  if (relation === undefined || PLAYED.test(text)) return false;
  if (!isRelative(relation) && likenessToRoles(relation) <= MIN_ROLE) return false;
  const isSpouse = /^(?:wife|husband|spouse|partner)$/u.test(relation);
  return said.every((one) => !says(wordsAround(one), relation) && !(isSpouse && MARRIED.test(wordsAround(one))));
}

/** `Which car do I drive?`, `What game console does she own?` */
const ASKS_OWN =
  /\b(?:which|what) (?:(?:kind|type|sort|brand) of )?(?:\p{Ll}+ ){0,2}?(\p{Ll}{3,}) (?:do|does|did) (?:I|we|he|she|\p{Lu}\p{L}+|my \p{Ll}+) (?:still |usually |currently )?(have|own|use|drive|ride|play|wear|keep|support|read|speak|watch|drink|collect|take|study|teach|like|buy|attend|vote for|go to|belong to|bank with|subscribe to|listen to)\b/iu;
/** Says of things what they are worth or how they are, and is no thing. */
const NO_THING = /^(?:age|thing|name|kind|type|sort|part|time|year|month|day|date|way|place|people|person|ailment)s?$/u;
const MIN_OWN = 0.45;
const MIN_NOUN = 0.4;

/** Whether no sentence has the thing of which a question asks which one somebody has or uses, nor one of its kind. */
function isOwnKindUnsaid({ text }: Asked, said: readonly Said[]): boolean {
  const [, thing, verb] = ASKS_OWN.exec(text.trim()) ?? [];
  if (thing === undefined || NO_THING.test(thing) || STOP_WORDS.has(thing)) return false;
  if (wordSenses().partsOf(wordSenses().row(thing)).noun < 0.5) return false;
  // `She plays the oud`: a word that no dictionary has may be one of the kind.
  const isNew = (one: Said) =>
    verb !== undefined && says(one.text, verb, 1) && (one.text.match(LOWER_WORD) ?? []).some(hasNoMeaning);
  // `my driving test` is no car that I drive.
  const describing = new RegExp(
    `(?<!\\p{L})${(verb ?? '').replace(/e$/u, '')}\\p{L}?ing (?!(?:an?|the|my|our|his|her|to|in|at|on|with|and)\\b)(?=\\p{Ll})`,
    'gu',
  );
  const isNounOrVerb = (word: string) => {
    const parts = wordSenses().partsOf(wordSenses().row(word));
    return parts.noun + parts.verb >= MIN_NOUN;
  };
  // Nor is an electric guitar one.
  const things = (one: Said) =>
    wordsOf(wordsAround(one).replace(describing, '')).filter(
      (word) => stemOf(word) === stemOf(thing) || isNounOrVerb(word),
    );
  const isSaid = (words: readonly string[]) =>
    says(words.join(' '), thing, MIN_OWN) || words.some((word) => isOfThing(thing, word));
  return said.every((one) => !isSaid(things(one)) && !isNew(one));
}

const LOWER_WORD = /(?<![\p{L}'’-])\p{Ll}{3,}(?![\p{L}'’-])/gu;

const OF_SELF = /^(?:I|We)\b/u;

/** Whether the best sentence does not tell of the person whose work a question asks about: `I am a nurse.` of my grandfather. */
function isWorkOfOther({ text }: Asked, [best]: readonly Said[]): boolean {
  const whose = workAsked(text)?.whose ?? 'I';
  const person = contentWords(whose).at(-1);
  return (
    whose !== 'I' &&
    person !== undefined &&
    best !== undefined &&
    OF_SELF.test(best.text) &&
    !says(wordsAround(best), person)
  );
}

const ASKS_THIEF = /^who (?:\p{L}+ )?(?:stole|took|robbed|burgled|broke in(?:to)?)\b/iu;
const BY_SOMEBODY = /\b(?:somebody|someone|thieves|burglars|an? (?:thief|burglar))\b/iu;

/** Whether the best sentence that tells of a thief does not know who it was. */
function isThiefUnknown({ text }: Asked, said: readonly Said[]): boolean {
  return ASKS_THIEF.test(text) && said.slice(0, 2).some((one) => BY_SOMEBODY.test(one.text));
}

/** Whether the best sentence tells of another month than the one that a question names. */
function isOfOtherMonth({ text, type }: Asked, [best]: readonly Said[]): boolean {
  if (type === 'date' || best === undefined) return false;
  const [month, ...more] = text.match(MONTH) ?? [];
  if (month === undefined || more.length > 0 || wordsAround(best).includes(month)) return false;
  return best.text.search(MONTH) >= 0;
}

const ORDER = /\b(second|third|fourth|next|last) (\p{Ll}+)/iu;

/** Whether sentences tell of the first of several when a question asks for a later one. */
function isOfOtherOrder({ text }: Asked, said: readonly Said[]): boolean {
  const [, order, thing] = ORDER.exec(text) ?? [];
  if (order === undefined) return false;
  const later = new RegExp(`\\b(?:${order}|again|two|twice|both|later|another|other|latest|recent)`, 'iu');
  const first = new RegExp(`\\bfirst (?:\\p{Ll}+ )?${thing}`, 'iu');
  return said.some((one) => first.test(wordsAround(one))) && !said.some((one) => later.test(wordsAround(one)));
}

/** A number with the words that it may count; none behind it when it counts what was named before. */
const COUNTED = new RegExp(
  `(?<![\\p{L}\\p{N}.,:/-])(?:\\d[\\d.,]*\\d|\\d|${NUMERALS})(?![\\p{N}:/%-]| of (?:them|these|those|us|which|whom)\\b)((?: (?!of\\b)\\p{L}[\\p{L}'’-]*){0,3})`,
  'giu',
);
/** Minimum likeness of a word for such things as are counted: `pickers` for `helpers`. */
const MIN_COUNTED = 0.3;

/** Whether sentences count other things alone than a question: `I have two brothers and a cat` for "How many dogs do I have?" */
function isCountOfOther(question: Asked, said: readonly Said[]): boolean {
  const thing = question.type === 'number' ? countedIn(question) : null;
  if (thing === null || wordSenses().partsOf(wordSenses().row(thing)).noun < 0.5 || UNIT.test(thing)) return false;
  const isOfPersons = isPerson(thing);
  // A sister is much like a brother, and none.
  const isLike = (word: string) =>
    !isRelative(thing.replace(/s$/u, '')) &&
    (wordTable().similarity(thing, word) >= MIN_COUNTED || (isOfPersons && (isPerson(word) || word === 'people')));
  const isSame = (word: string) => isOfThing(thing, word) || relativesLike(thing).includes(word);
  let counts = 0;
  for (const one of said) {
    if (wordsOf(wordsAround(one)).some(isSame)) return false;
    for (const [, behind = ''] of one.text.replace(QUANTITY, ' ').matchAll(COUNTED)) {
      const counted = contentWords(behind).filter((word) => wordSenses().partsOf(wordSenses().row(word)).noun > 0.5);
      if (counted.length === 0 || counted.some(isLike)) return false;
      counts += 1;
    }
  }
  return counts > 0;
}

/** What is counted is a quantity. */
const UNIT = new RegExp(
  `^(?:${TIME_UNITS}|${CURRENCIES}|${LENGTH_UNITS}|times|lit(?:er|re)s?|grams?|kilos?|percent|points?|people|persons?)$`,
  'u',
);

const ASKS_AGE_OF_OTHER = /\bhow old (?:is|was|are|were) (?!(?:I|we)\b)/iu;
const AGE_OF_SPEAKER = /\bwhen (?:I|we) (?:was|were|turned) [\p{L}\d-]+/giu;
const NUMERAL = new RegExp(`\\d|\\b(?:${NUMERALS}|\\p{L}+teen)\\b`, 'iu');

/** Whether the only age of the best sentence is that of who tells it: `My uncle taught me chess when I was seven.` */
function isAgeOfSpeaker({ text }: Asked, [best]: readonly Said[]): boolean {
  if (!ASKS_AGE_OF_OTHER.test(text) || best === undefined || best.text.search(AGE_OF_SPEAKER) < 0) return false;
  return !NUMERAL.test(best.text.replace(AGE_OF_SPEAKER, ''));
}

const ASKS_WAY =
  /^how (?:do|does|can|could|should|would|did|to) (?:(?:I|we|you|one|he|she|they|people|\p{Lu}\p{L}+) )?(?:\p{L}+ly )?(\p{Ll}{3,})\b/iu;
/** Deeds that are told without a word for them: what to do is what is said. */
const GENERAL_DEED =
  /^(?:get|make|have|know|use|find|come|look|work|feel|take|keep|set|start|run|add|build|create|define|enable|handle|deal|manage|reach|prepare|cook|eat|drink|help|solve|fix|turn|learn|call|name|spell|say|pronounce|tell|see|like|pay|react|change|write|configure|want|need|become|meet|end|begin|stay|survive|win|celebrate|spend|decide|respond|describe)$/u;
const MIN_DEED = 0.3;

/** Whether no sentence has the verb of what a question asks the way of, nor one like it: `ZIP archives are compressed` for how to encrypt one. */
function isDeedUnsaid({ text, type }: Asked, said: readonly Said[]): boolean {
  const deed = type === 'way' ? ASKS_WAY.exec(text.trim())?.[1]?.toLowerCase() : undefined;
  if (deed === undefined || GENERAL_DEED.test(deed) || STOP_WORDS.has(deed)) return false;
  if (wordSenses().partsOf(wordSenses().row(deed)).verb < 0.5) return false;
  return said.every((one) => !says(wordsAround(one), deed, MIN_DEED));
}
