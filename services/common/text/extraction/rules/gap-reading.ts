import type { Argument } from './clause-levels.ts';
import { COUNTRIES } from './gazetteer.ts';
import { PARTICLE, readPhrase, snakeCase, UNCERTAIN, UNDONE_VERBS } from './relation-phrase.ts';
import type { TaggedWord } from './tagger.ts';
import { CONCEPT_ENDINGS, TYPE_NOUNS } from './type-words.ts';

/** The relation that the words between two names state. */
export interface GapReading {
  readonly relation: string;
  /** The right name is the one that acts: `written by`. */
  readonly isSwapped: boolean;
  /** The words are only this preposition, which continues an earlier verb or states nothing; null otherwise. */
  readonly preposition: string | null;
  /** The right name is where the left one is. */
  readonly isPlace: boolean;
  /** How the words begin, which decides whose they are. */
  readonly opening: 'direct' | 'conjunction' | 'participle' | 'relative' | 'apposition';
  /** The verb as it enters the relation; null without one. */
  readonly verb: string | null;
  readonly lemma: string | null;
  readonly isPassive: boolean;
  /** `A's brother B`. */
  readonly isOwner: boolean;
}

/** More words between two names belong to something else. */
const MAX_GAP_WORDS = 12;
const BE = /^(?:is|are|was|were|been|being|be)$/iu;
const PARTICIPLE =
  /(?:ed|en|wn|rn|ne|built|made|held|led|sung|set|won|sold|told|found|brought|bought|shot|cut|put|taught|sent|spent)$/iu;
const RELATIVE = /^(?:who|which|that)$/iu;
const CONJUNCTION = /^(?:and|but|then)$/iu;
/** Denied, supposed or compared: nothing that is stated. */
const UNSTATED = new RegExp(
  `^(?:${UNCERTAIN}|if|unless|whether|lest|than|like|whereas|although|though|because|while|whilst|where|when|why|how|whose|whom)$`,
  'iu',
);
/** With an infinitive: wanted, not done. */
const UNDONE = new RegExp(`^(?:${UNDONE_VERBS}|offer|seem|appear|sought|think|suppose|pretend)$`, 'u');
const PLACE_PREPOSITION = /^(?:in|at|on)$/iu;
/** `the city of Chichester` is Chichester. */
const PLACE_NOUN =
  /^(?:city|town|village|state|province|county|district|region|municipality|island|department|borough|territory)$/iu;

const plain: GapReading = {
  relation: '',
  isSwapped: false,
  preposition: null,
  isPlace: false,
  opening: 'direct',
  verb: null,
  lemma: null,
  isPassive: false,
  isOwner: false,
};

export function readGap(words: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  const gap = withoutClass(right.type === 'Place' ? withoutPlaceNoun(words) : words);
  if (gap.length === 0 || gap.length > MAX_GAP_WORDS) return null;
  if (gap.some((word) => /^(?:[;:"“”?!…—–()·•|]|--+)$/u.test(word.text) || UNSTATED.test(word.text))) return null;
  const verb = gap.find((word) => isVerb(word) && !isInCompound(gap, word));
  if (verb !== undefined && isNoun(gap, verb)) return null;
  if (verb !== undefined) return readVerb(gap, verb);
  if (gap.some((word) => word.pos === 'AUX')) return readCopula(gap, left, right);
  return readNominal(gap, left, right);
}

function withoutPlaceNoun(gap: readonly TaggedWord[]): readonly TaggedWord[] {
  const [article, noun, of] = gap.slice(-3);
  const names = noun !== undefined && PLACE_NOUN.test(noun.text) && of?.text === 'of' && article?.pos === 'DET';
  return names && gap.length > 3 ? gap.slice(0, -3) : gap;
}

/** `learned it from a baker called Otto` is to have learned it from Otto. */
function withoutClass(gap: readonly TaggedWord[]): readonly TaggedWord[] {
  if (!/^(?:called|named)$/u.test(gap.at(-1)?.text ?? '')) return gap;
  const from = gap.findLastIndex(({ pos }) => pos === 'DET');
  const isClass = from > 0 && gap.slice(from + 1, -1).every(({ pos }) => pos === 'NOUN' || pos === 'ADJ');
  return isClass ? gap.slice(0, from) : gap;
}

/** `co-written` passes for a noun, `married` for an adjective. */
function isVerb(word: TaggedWord): boolean {
  return word.pos === 'VERB' || /^(?:co-\p{L}+(?:ed|en|wrote)|married|divorced)$/iu.test(word.text);
}

/** `the deploy to Heroku`: directly behind an article the plain form of a verb is a noun. */
function isNoun(gap: readonly TaggedWord[], word: TaggedWord): boolean {
  const before = gap[gap.indexOf(word) - 1];
  return /^(?:an?|the)$/iu.test(before?.text ?? '') && word.text.toLowerCase() === word.lemma.toLowerCase();
}

/** `blues-inspired`, `so-called`: an adjective. */
function isInCompound(gap: readonly TaggedWord[], word: TaggedWord): boolean {
  const before = gap[gap.indexOf(word) - 1];
  return before?.text === '-' && before.end === word.start;
}

/** The last verb of a chain (`decided to move`), unless another noun is its subject. */
function readVerb(gap: readonly TaggedWord[], first: TaggedWord): GapReading | null {
  const start = gap.indexOf(first);
  const before = gap.slice(0, start);
  if (hasOtherSubject(before) || isSubordinate(before)) return null;
  const main = chainEnd(gap, first);
  if (main !== first && UNDONE.test(first.lemma.toLowerCase())) return null;
  if (/^(?:seem|appear|let)$/u.test(main.lemma.toLowerCase())) return null;
  const at = gap.indexOf(main);
  const after = gap.slice(at + 1);
  if (
    after.some(
      (word) =>
        word.pos === 'VERB' ||
        word.pos === 'AUX' ||
        word.pos === 'SCONJ' ||
        (word.pos === 'PUNCT' && word.text !== '-'),
    )
  )
    return null;
  const phrase = readPhrase(withoutExample(after));
  if (phrase === null) return null;
  // `based it on a novel by` is no passive.
  const hasObject = /^(?:it|him|her|them)$/u.test(after[0]?.text ?? '');
  const isPassive =
    PARTICIPLE.test(main.text) &&
    (gap.slice(0, at).some((word) => BE.test(word.text)) || (!hasObject && isReduced(gap, at)));
  const lemma = snakeCase(lemmaOf(main));
  const particle = after[0]?.text.toLowerCase() ?? '';
  const isPhrasal = PARTICLE.test(particle) || (particle === 'over' && /^(?:take|hand|carry)$/u.test(main.lemma));
  const verb = snakeCase(`${isPassive ? main.text : lemma} ${isPhrasal ? particle : ''}`);
  const isAgent = isPassive && phrase.preposition === 'by';
  return {
    ...plain,
    relation: isAgent
      ? lemma
      : phrase.isChain
        ? ofOffice(lemma, after)
        : snakeCase(`${isPassive ? main.text : lemma} ${phrase.text}`),
    isSwapped: isAgent,
    opening: openingOf(gap, main),
    verb,
    lemma,
    isPassive,
  };
}

/** `works as a nurse at X`, `serves as an officer in X`: where one works, whatever as. */
function ofOffice(lemma: string, after: readonly TaggedWord[]): string {
  const isOffice = after[0]?.text === 'as' && /^(?:work|serve|start)$/u.test(lemma);
  const preposition = after.at(-1)?.text === 'the' ? after.at(-2)?.text : after.at(-1)?.text;
  return isOffice && /^(?:at|for|in|with)$/u.test(preposition ?? '') ? `${lemma}_${preposition}` : '';
}

/** `worked with artists such as X` is to have worked with X. */
function withoutExample(after: readonly TaggedWord[]): readonly TaggedWord[] {
  const such = after.findIndex((word, at) => word.text === 'such' && after[at + 1]?.text === 'as');
  if (such === -1) return after;
  return after.slice(0, after[such - 1]?.pos === 'NOUN' ? such - 1 : such);
}

/** wink leaves prefixed verbs as they are: `co-founded`. */
export function lemmaOf(verb: TaggedWord): string {
  const lower = verb.text.toLowerCase();
  if (lower === 'married') return 'marry';
  if (lower === 'divorced') return 'divorce';
  if (verb.lemma.toLowerCase() !== lower || !lower.includes('-')) return verb.lemma;
  if (/-(?:written|wrote)$/u.test(lower)) return 'co-write';
  return lower.replace(/(?<=[^e])ed$/u, lower.endsWith('ated') || lower.endsWith('uced') ? 'e' : '');
}

function openingOf(gap: readonly TaggedWord[], verb: TaggedWord): GapReading['opening'] {
  const first = gap.find((word) => word.pos !== 'PUNCT' && word.pos !== 'ADV');
  if (first === undefined) return 'direct';
  if (CONJUNCTION.test(first.text)) return 'conjunction';
  if (RELATIVE.test(first.text)) return 'relative';
  if (gap[0]?.pos !== 'PUNCT') return 'direct';
  if (first === verb || first.pos === 'VERB') return 'participle';
  return first.pos === 'DET' ? 'apposition' : 'direct';
}

/** A noun in front of the verb is its subject, unless the clause of that noun is over: `, a band formed in`. */
function hasOtherSubject(before: readonly TaggedWord[]): boolean {
  if (
    !before.some(
      (word) => word.pos === 'NOUN' || word.pos === 'PROPN' || (word.pos === 'PRON' && !RELATIVE.test(word.text)),
    )
  )
    return false;
  if (before.some((word) => BE.test(word.text))) return false;
  const last = before.findLast((word) => word.pos !== 'AUX' && word.pos !== 'ADV');
  return last === undefined || !(last.pos === 'PUNCT' || RELATIVE.test(last.text) || CONJUNCTION.test(last.text));
}

/** `by taking ship`, `to flee`: the name in front is not the one who does it. */
function isSubordinate(before: readonly TaggedWord[]): boolean {
  const last = before.findLast((word) => word.pos !== 'ADV');
  if (last === undefined || before.some((word) => BE.test(word.text))) return false;
  return last.pos === 'ADP' || last.pos === 'SCONJ' || /^to$/iu.test(last.text);
}

/** A participle behind a comma or a noun that a copula explains (`, founded in`, `is a band formed in`), or in front of `by`. */
function isReduced(gap: readonly TaggedWord[], at: number): boolean {
  const main = gap[at] as TaggedWord;
  const before = gap.slice(0, at).findLast((word) => word.pos !== 'ADV');
  const next = gap[at + 1]?.text.toLowerCase();
  if (main.text.toLowerCase() === 'known' || main.text.toLowerCase() === 'born') return true;
  if (before === undefined || before.pos === 'CCONJ') return gap.slice(at + 1).some((word) => word.text === 'by');
  if (before.pos === 'PUNCT') return next === 'by' || !/^(?:had|went|became)$/u.test(main.text);
  return before.pos === 'NOUN' && gap.slice(0, at).some((word) => BE.test(word.text));
}

function chainEnd(gap: readonly TaggedWord[], first: TaggedWord): TaggedWord {
  let main = first;
  for (let at = gap.indexOf(first) + 1; at < gap.length; at++) {
    const word = gap[at] as TaggedWord;
    if (isVerb(word)) main = word;
    else if (word.pos !== 'PART' && word.pos !== 'AUX' && word.pos !== 'ADV') break;
  }
  return main;
}

/** `was the capital of`, `is in`. */
function readCopula(gap: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  const at = gap.findLastIndex((word) => word.pos === 'AUX');
  if (!BE.test(gap[at]?.text ?? '') && !/^became$/iu.test(gap[at]?.text ?? '')) return null;
  const before = gap.slice(0, at);
  if (hasOtherSubject(before) || isSubordinate(before)) return null;
  const rest = gap.slice(at + 1);
  const opening = openingOf(gap, gap[at] as TaggedWord);
  if (rest.every((word) => word.pos === 'DET')) {
    const areAlike = left.type === right.type || left.type === 'Concept' || right.type === 'Concept';
    return areAlike && right.type !== 'Date' ? { ...plain, relation: 'is', opening } : null;
  }
  const reading = nounAndPreposition(rest, left, right);
  return reading === null ? null : { ...reading, opening };
}

/** A noun (or adjective) with its preposition: `member of`, `famous for`; where something is becomes `located_in`. */
function nounAndPreposition(rest: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  const phrase = readPhrase(rest);
  if (phrase === null || phrase.preposition === null || rest.at(-1)?.pos === 'PUNCT') return null;
  const isWhere = right.type === 'Place' && PLACE_PREPOSITION.test(phrase.preposition);
  if (isWhere && phrase.nouns < 2) {
    if (left.type === 'Person' || left.type === 'Work' || left.type === 'Date') {
      return phrase.nouns === 0 ? null : { ...plain, relation: snakeCase(phrase.text) };
    }
    return { ...plain, relation: 'located_in' };
  }
  if (phrase.nouns > 0) return { ...plain, relation: snakeCase(phrase.text) };
  const adjective = rest.findLast((word) => word.pos === 'ADJ');
  if (adjective === undefined || rest.indexOf(adjective) + 2 !== rest.length) return null;
  return { ...plain, relation: snakeCase(`${adjective.lemma} ${phrase.preposition}`) };
}

/** Without a verb: `'s (novel)`, `, the capital of`, `in`, and a place after a place. */
function readNominal(gap: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  const first = gap[0] as TaggedWord;
  if (/^['’]s?$/u.test(first.text)) {
    if (gap.length > 4 || !gap.slice(1).every((word) => /^(?:ADJ|NOUN|PROPN|NUM)$/u.test(word.pos))) return null;
    const noun = gap.findLast((word) => word.pos === 'NOUN');
    // `Camel's Back` and `Behring's Straits` are one name each, without an owner.
    if (noun === undefined && !/^(?:Work|Organisation)$/u.test(right.type)) return null;
    return { ...plain, relation: noun === undefined ? 'has' : snakeCase(noun.lemma), isOwner: true };
  }
  const areBothPlaces = left.type === 'Place' && right.type === 'Place';
  if (gap.length === 1 && first.text === ',') {
    return areBothPlaces && !COUNTRIES.has(left.name.toLowerCase())
      ? { ...plain, relation: 'located_in', isPlace: true }
      : null;
  }
  if (gap.length < 3 && first.text === 'of' && areBothPlaces)
    return { ...plain, relation: 'located_in', isPlace: true };
  if (first.text === ',') {
    const isApposition = /^(?:an?|the|one)$/iu.test(gap[1]?.text ?? '');
    // `born in Kendal, the daughter of Josiah`
    const isOfOther =
      left.type === 'Place' && gap.some(({ lemma }) => TYPE_NOUNS.get(lemma.toLowerCase()) === 'Person');
    const reading = isApposition && !isOfOther ? nounAndPreposition(gap.slice(1), left, right) : null;
    return reading === null ? null : { ...reading, opening: 'apposition' };
  }
  if (!gap.every((word) => word.pos === 'ADP' || word.pos === 'DET' || word.pos === 'ADJ')) return null;
  const phrase = readPhrase(gap);
  if (phrase === null || phrase.preposition === null) return null;
  const isWhere = right.type === 'Place' && PLACE_PREPOSITION.test(first.text) && gap.length < 4;
  const isEvent = CONCEPT_ENDINGS.has(left.name.toLowerCase().replace(/^.* /u, ''));
  const isPlace = isWhere && (isEvent || /^(?:Place|Organisation)$/u.test(left.type));
  return { ...plain, relation: isPlace ? 'located_in' : '', preposition: phrase.preposition, isPlace };
}
