import type { TaggedWord } from './tagger.ts';

/** A thing named in a sentence, in order of place. */
export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export interface FoundRelation {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
}

/** Words between two names beyond this belong to something else. */
const MAX_GAP_WORDS = 12;
const MAX_RELATIONS = 12;
const LIST_GAP = new Set(['PUNCT', 'CCONJ', 'DET', 'SPACE']);

/**
 * Relations that the words between two neighbouring names state: verbs (with their preposition; `by` turns a passive
 * round), copulas with a noun (`capital of`), possessives, prepositions and places after a comma. Members of a list share
 * the relation of the first.
 */
export function relationsOf(text: string, words: readonly TaggedWord[], parts: readonly Argument[]): FoundRelation[] {
  const found: FoundRelation[] = [];
  let last: { subject: Argument; relation: string; isSwapped: boolean } | null = null;
  let subjects: Argument[] = [];
  for (let at = 0; at + 1 < parts.length && found.length < MAX_RELATIONS; at++) {
    const left = parts[at] as Argument;
    const right = parts[at + 1] as Argument;
    const gap = words.filter((word) => word.start >= left.end && word.end <= right.start && word.pos !== 'SPACE');
    if (subjects.length === 0) subjects = [left];
    if (isListGap(gap, text, left, right)) {
      if (last !== null) addRelation(found, last, right);
      else subjects.push(right);
      continue;
    }
    const reading = readGap(gap, left, right);
    if (reading === null) {
      last = null;
      subjects = [];
      continue;
    }
    const isContinued: boolean = reading.isPreposition && last !== null && !reading.isPlace;
    const subject: Argument = isContinued && last !== null ? last.subject : left;
    const relation: string =
      isContinued && last !== null ? `${verbOf(last.relation)}_${reading.relation}` : reading.relation;
    const step: { subject: Argument; relation: string; isSwapped: boolean } = {
      subject,
      relation,
      isSwapped: reading.isSwapped,
    };
    for (const one of subjects.includes(left) ? subjects : [subject])
      addRelation(found, { ...step, subject: one }, right);
    if (!reading.isPlace) last = step;
    subjects = [];
  }
  return found;
}

function addRelation(
  found: FoundRelation[],
  { subject, relation, isSwapped }: { subject: Argument; relation: string; isSwapped: boolean },
  object: Argument,
): void {
  const [source, target] = isSwapped ? [object, subject] : [subject, object];
  if (source.name === target.name || source.type === 'Date' || source.type === 'Quantity') return;
  found.push({ source: source.name, target: target.name, relation });
}

/** `acquire_in` → `acquire`: what a further preposition is added to. */
function verbOf(relation: string): string {
  return relation.replace(/_(?:in|on|at|to|from|with|by|for|of|into|as|near|during|under|over)$/u, '');
}

function isListGap(gap: readonly TaggedWord[], text: string, left: Argument, right: Argument): boolean {
  if (gap.length > 4 || !gap.every((word) => LIST_GAP.has(word.pos))) return false;
  const between = text.slice(left.end, right.start);
  if (/[();:"“”]/u.test(between)) return false;
  return (
    /\b(?:and|or)\b|&/iu.test(between) || (/^,\s*$/u.test(between) && left.type === right.type && left.type !== 'Place')
  );
}

interface Reading {
  readonly relation: string;
  readonly isSwapped: boolean;
  /** Only a preposition between the names: it goes on with the verb before. */
  readonly isPreposition: boolean;
  readonly isPlace: boolean;
}

const reading = (relation: string, extra: Partial<Reading> = {}): Reading => ({
  relation,
  isSwapped: false,
  isPreposition: false,
  isPlace: false,
  ...extra,
});

function readGap(gap: readonly TaggedWord[], left: Argument, right: Argument): Reading | null {
  if (gap.length === 0 || gap.length > MAX_GAP_WORDS) return null;
  if (gap.some((word) => word.text === ';' || word.text === ':')) return null;
  const verbs = gap.filter((word) => word.pos === 'VERB');
  if (verbs.length > 0) return readVerb(gap, verbs);
  if (gap.some((word) => word.pos === 'AUX')) return readCopula(gap, right);
  return readNominal(gap, left, right);
}

/** The last verb of a chain (`decided to move`), unless another noun is its subject. */
function readVerb(gap: readonly TaggedWord[], verbs: readonly TaggedWord[]): Reading | null {
  const first = verbs[0] as TaggedWord;
  const before = gap.slice(0, gap.indexOf(first));
  if (before.some((word) => word.pos === 'NOUN' || word.pos === 'PROPN') && !endsClause(before)) return null;
  const main = chainEnd(gap, first);
  const after = gap.slice(gap.indexOf(main) + 1);
  if (after.some((word) => word.pos === 'VERB' || word.pos === 'AUX' || word.pos === 'SCONJ')) return null;
  const isPassive =
    /(?:ed|en|wn|ne|born|built|made|held|led|sung|set|won|sold|told|found|brought|bought|shot|cut)$/u.test(main.text) &&
    (gap.slice(0, gap.indexOf(main)).some((word) => /^(?:is|are|was|were|been|being|be)$/u.test(word.text)) ||
      isReduced(gap, main));
  const preposition = after.findLast((word) => word.pos === 'ADP' || (word.pos === 'PART' && word.text === 'to'));
  const isDirect = preposition === undefined || gap.indexOf(preposition) < gap.length - 4;
  if (isPassive && !isDirect && preposition?.text.toLowerCase() === 'by') {
    return reading(relationName([main.lemma]), { isSwapped: true });
  }
  const verb = isPassive ? main.text : main.lemma;
  return reading(relationName(isDirect ? [verb] : [verb, preposition?.text ?? '']));
}

/** `, founded by`: a participle right after the name and its comma. */
function isReduced(gap: readonly TaggedWord[], main: TaggedWord): boolean {
  const at = gap.indexOf(main);
  return at === 0 || (at === 1 && gap[0]?.pos === 'PUNCT');
}

function endsClause(before: readonly TaggedWord[]): boolean {
  const last = before.findLast((word) => word.pos !== 'AUX' && word.pos !== 'ADV');
  return last !== undefined && (/^(?:who|which|that|and|,)$/iu.test(last.text) || last.pos === 'PUNCT');
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

/** `was the capital of`, `is in`. */
function readCopula(gap: readonly TaggedWord[], right: Argument): Reading | null {
  const at = gap.findLastIndex((word) => word.pos === 'AUX');
  if (!/^(?:is|are|was|were|be|been|being|'s|’s|became)$/iu.test(gap[at]?.text ?? '')) return null;
  return nounAndPreposition(gap.slice(at + 1), right) ?? (gap.length - at === 1 ? reading('is') : null);
}

function nounAndPreposition(rest: readonly TaggedWord[], right: Argument): Reading | null {
  const preposition = rest.findLast((word) => word.pos === 'ADP');
  if (preposition === undefined) return null;
  if (rest.slice(rest.indexOf(preposition) + 1).some((word) => word.pos === 'NOUN' || word.pos === 'PRON')) return null;
  const noun = rest.slice(0, rest.indexOf(preposition)).findLast((word) => word.pos === 'NOUN' || word.pos === 'ADJ');
  const isPlace = right.type === 'Place' && /^(?:in|at|near)$/iu.test(preposition.text);
  if (noun === undefined) return reading(isPlace ? 'located_in' : relationName([preposition.text]), { isPlace });
  return reading(relationName([noun.lemma, preposition.text]));
}

/** Without a verb: `'s (novel)`, `, the capital of`, `in`, and a place after a place. */
function readNominal(gap: readonly TaggedWord[], left: Argument, right: Argument): Reading | null {
  const [first] = gap;
  if (first === undefined) return null;
  if (/^['’]s?$/u.test(first.text)) {
    const noun = gap.findLast((word) => word.pos === 'NOUN');
    return gap.length < 5 ? reading(noun === undefined ? 'has' : relationName([noun.lemma])) : null;
  }
  if (gap.length === 1 && first.text === ',') {
    return left.type !== 'Date' && right.type === 'Place' ? reading('located_in', { isPlace: true }) : null;
  }
  const isOnlyPreposition = gap.every((word) => word.pos === 'ADP' || word.pos === 'DET' || word.pos === 'ADJ');
  const result = gap.some((word) => word.text === '(') ? null : nounAndPreposition(gap, right);
  if (result === null) return null;
  return { ...result, isPreposition: isOnlyPreposition, isPlace: result.isPlace && left.type !== 'Person' };
}

function relationName(parts: readonly string[]): string {
  return parts
    .join('_')
    .toLowerCase()
    .replace(/['’]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/gu, '');
}
