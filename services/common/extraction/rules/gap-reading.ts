import type { Argument } from './relations.ts';
import type { TaggedWord } from './tagger.ts';

/** What the words between two names say of them. */
export interface GapReading {
  readonly relation: string;
  /** The right name is the one that acts: `written by`. */
  readonly isSwapped: boolean;
  /** Only a preposition: it goes on with the verb before. */
  readonly isPreposition: boolean;
  /** The right name is where the left one is. */
  readonly isPlace: boolean;
  /** `and illustrated by`: the subject stands further to the left. */
  readonly startsWithConjunction: boolean;
  /** As it enters the relation; null without a verb. */
  readonly verb: string | null;
  readonly lemma: string | null;
  readonly isPassive: boolean;
}

/** More words between two names belong to something else. */
const MAX_GAP_WORDS = 12;
const BE = /^(?:is|are|was|were|been|being|be|'s|’s)$/iu;
const PARTICIPLE =
  /(?:ed|en|wn|rn|ne|built|made|held|led|sung|set|won|sold|told|found|brought|bought|shot|cut|put|taught|sent|spent)$/iu;
const RELATIVE = /^(?:who|which|that|and|but|then)$/iu;

const plain: GapReading = {
  relation: '',
  isSwapped: false,
  isPreposition: false,
  isPlace: false,
  startsWithConjunction: false,
  verb: null,
  lemma: null,
  isPassive: false,
};

export function readGap(gap: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  if (gap.length === 0 || gap.length > MAX_GAP_WORDS) return null;
  if (gap.some((word) => /^[;:"“”?!]$/u.test(word.text))) return null;
  const verb = gap.find((word) => word.pos === 'VERB');
  if (verb !== undefined) return readVerb(gap, verb);
  if (gap.some((word) => word.pos === 'AUX')) return readCopula(gap, right);
  return readNominal(gap, left, right);
}

/** The last verb of a chain (`decided to move`), unless another noun is its subject. */
function readVerb(gap: readonly TaggedWord[], first: TaggedWord): GapReading | null {
  const start = gap.indexOf(first);
  if (hasOtherSubject(gap.slice(0, start))) return null;
  const main = chainEnd(gap, first);
  const at = gap.indexOf(main);
  const after = gap.slice(at + 1);
  if (after.some((word) => word.pos === 'VERB' || word.pos === 'AUX' || word.pos === 'SCONJ')) return null;
  const isPassive =
    PARTICIPLE.test(main.text) && (gap.slice(0, at).some((word) => BE.test(word.text)) || isReduced(gap, at));
  const lemma = snakeCase(main.lemma);
  const verb = isPassive ? snakeCase(main.text) : lemma;
  const preposition = prepositionAtEnd(after);
  // A comma in front of a name that no preposition governs: somebody is addressed, or a new clause begins.
  if (preposition === null && gap.at(-1)?.pos === 'PUNCT') return null;
  const isAgent = isPassive && preposition === 'by';
  return {
    ...plain,
    relation: isAgent ? lemma : snakeCase(preposition === null ? verb : `${verb}_${preposition}`),
    isSwapped: isAgent,
    startsWithConjunction:
      gap.findIndex((word) => word.pos !== 'PUNCT') === gap.findIndex((word) => word.pos === 'CCONJ'),
    verb,
    lemma,
    isPassive,
  };
}

/** A noun in front of the verb is its subject, unless the clause of that noun is over: `, a band formed in`. */
function hasOtherSubject(before: readonly TaggedWord[]): boolean {
  if (!before.some((word) => word.pos === 'NOUN' || word.pos === 'PROPN' || word.pos === 'PRON')) return false;
  if (before.some((word) => BE.test(word.text))) return false;
  const last = before.findLast((word) => word.pos !== 'AUX' && word.pos !== 'ADV');
  return last === undefined || !(last.pos === 'PUNCT' || RELATIVE.test(last.text));
}

/** A participle behind a comma or a noun that a copula explains (`, founded in`, `is a band formed in`), or in front of `by`. */
function isReduced(gap: readonly TaggedWord[], at: number): boolean {
  const before = gap[at - 1];
  if (before === undefined || before.pos === 'CCONJ') return gap.slice(at + 1).some((word) => word.text === 'by');
  if (before.pos === 'PUNCT') return true;
  return before.pos === 'NOUN' && gap.slice(0, at).some((word) => BE.test(word.text));
}

function chainEnd(gap: readonly TaggedWord[], first: TaggedWord): TaggedWord {
  let main = first;
  for (let at = gap.indexOf(first) + 1; at < gap.length; at++) {
    const word = gap[at] as TaggedWord;
    if (word.pos === 'VERB') main = word;
    else if (word.pos !== 'PART' && word.pos !== 'AUX' && word.pos !== 'ADV') break;
  }
  return main;
}

/** The preposition that governs the right name; null when the name is the object itself. */
function prepositionAtEnd(after: readonly TaggedWord[]): string | null {
  const at = after.findLastIndex((word) => word.pos === 'ADP' || (word.pos === 'PART' && word.text === 'to'));
  if (at === -1 || after.slice(at + 1).some((word) => word.pos === 'PRON' || word.pos === 'PUNCT')) return null;
  return (after[at] as TaggedWord).text.toLowerCase();
}

/** `was the capital of`, `is in`. */
function readCopula(gap: readonly TaggedWord[], right: Argument): GapReading | null {
  const at = gap.findLastIndex((word) => word.pos === 'AUX');
  if (!BE.test(gap[at]?.text ?? '') && !/^became$/iu.test(gap[at]?.text ?? '')) return null;
  if (hasOtherSubject(gap.slice(0, at))) return null;
  const rest = gap.slice(at + 1);
  if (rest.every((word) => word.pos === 'DET')) return { ...plain, relation: 'is' };
  return nounAndPreposition(rest, right);
}

function nounAndPreposition(rest: readonly TaggedWord[], right: Argument): GapReading | null {
  const at = rest.findLastIndex((word) => word.pos === 'ADP');
  if (at === -1 || rest.slice(at + 1).some((word) => word.pos === 'NOUN' || word.pos === 'PRON')) return null;
  const preposition = (rest[at] as TaggedWord).text;
  const noun = rest.slice(0, at).findLast((word) => word.pos === 'NOUN' || word.pos === 'ADJ');
  const isPlace = right.type === 'Place' && /^(?:in|at|near)$/iu.test(preposition);
  if (noun === undefined) return { ...plain, relation: isPlace ? 'located_in' : snakeCase(preposition), isPlace };
  return { ...plain, relation: snakeCase(`${noun.lemma}_${preposition}`) };
}

/** Without a verb: `'s (novel)`, `, the capital of`, `in`, and a place after a place. */
function readNominal(gap: readonly TaggedWord[], left: Argument, right: Argument): GapReading | null {
  const first = gap[0] as TaggedWord;
  if (/^['’]s?$/u.test(first.text)) {
    if (gap.length > 4 || gap.some((word) => word.pos === 'ADP' || word.pos === 'PUNCT')) return null;
    const noun = gap.findLast((word) => word.pos === 'NOUN');
    return { ...plain, relation: noun === undefined ? 'has' : snakeCase(noun.lemma) };
  }
  if (gap.length === 1 && first.text === ',') {
    return left.type === 'Place' && right.type === 'Place' ? { ...plain, relation: 'located_in', isPlace: true } : null;
  }
  const isRegion = gap.length < 3 && first.text === 'of' && left.type === 'Place' && right.type === 'Place';
  if (isRegion) return { ...plain, relation: 'located_in', isPlace: true };
  const isOnlyPreposition = gap.every((word) => word.pos === 'ADP' || word.pos === 'DET' || word.pos === 'ADJ');
  const isApposition = first.text === ',' && /^(?:an?|the|one)$/iu.test(gap[1]?.text ?? '');
  if (!isOnlyPreposition && !isApposition) return null;
  const reading = nounAndPreposition(gap, right);
  if (reading === null || (reading.isPlace && left.type === 'Date')) return null;
  return {
    ...reading,
    isPreposition: isOnlyPreposition,
    isPlace: reading.isPlace && /^(?:Place|Organisation)$/u.test(left.type),
  };
}

function snakeCase(text: string): string {
  return text
    .toLowerCase()
    .replace(/['’]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/gu, '');
}
