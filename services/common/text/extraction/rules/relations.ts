import { CALENDAR_WORDS } from '../../language/name-words.ts';
import { type Argument, type ClauseLevel, levelsOf } from './clause-levels.ts';
import { type GapReading, lemmaOf, readGap } from './gap-reading.ts';
import { snakeCase } from './relation-phrase.ts';
import type { TaggedWord } from './tagger.ts';

export interface FoundRelation {
  readonly source: string;
  readonly target: string;
  /** snake_case: lemma of the verb, participle of a passive, or noun; then the words up to the target: `play_role_of`. */
  readonly relation: string;
}

const MAX_RELATIONS = 12;
const LIST_GAP = new Set(['PUNCT', 'CCONJ', 'DET']);

/** The statement that is being read: more objects may follow it. */
interface Statement {
  readonly subjects: readonly Argument[];
  readonly reading: GapReading;
}

/**
 * Relations that the words between two neighbouring names state: verbs (with their preposition; `by` turns a passive
 * round), copulas with a noun (`capital of`), possessives, a place after a comma. Members of a list share subject and
 * relation; `and` with a verb, a participle after a comma, or a further preposition continues with the subject before.
 * A name after a preposition is not a subject: in `a river in Mexico, that connects to`, Mexico connects nothing.
 */
export function relationsOf(text: string, words: readonly TaggedWord[], parts: readonly Argument[]): FoundRelation[] {
  const found: FoundRelation[] = [];
  for (const level of levelsOf(text, words, parts)) readLevel(text, withoutOwners(text, level, found), found);
  return found;
}

function readLevel(text: string, { words, parts }: ClauseLevel, found: FoundRelation[]): void {
  let statement: Statement | null = null;
  let group: Argument[] = [];
  // The left name follows a preposition, or is such a place in a chain of places.
  let isGoverned = isBehindPreposition(words, parts[0]);
  for (let at = 0; at + 1 < parts.length && found.length < MAX_RELATIONS; at++) {
    const left = parts[at] as Argument;
    const right = parts[at + 1] as Argument;
    const gap = words.filter((word) => word.start >= left.end && word.end <= right.start);
    if (group.length === 0) group = [left];
    const between = text.slice(left.end, right.start);
    // `the daughter of Josiah, she studied`
    const isClause = acts(words, right) && (statement !== null || /^\s*,\s*$/u.test(between));
    const isList = isListGap(gap, between, left, right) && !isClause;
    if (isList || isPlaceList(text, parts, at)) {
      if (statement === null) group.push(right);
      else state(found, statement, right);
      continue;
    }
    const isOwner = /^['’]s?(?!\p{L})/u.test(text.slice(right.end, right.end + 3));
    const isCopula = /^(?:is|are|was|were)$/u.test(gap.at(-1)?.text ?? '');
    if (isCopula && isOwner && gap.length === 1) {
      const relation = ownedNoun(words.filter(({ start }) => start > right.end));
      if (relation !== null) for (const { name } of group) found.push({ source: right.name, target: name, relation });
    }
    // `Bob's manager is Alice.`
    if (isCopula && !isOwner && /^['’]s?$/u.test(gap[0]?.text ?? '') && isEndOfClause(text, right)) {
      const relation = gap.length > 2 ? ownedNoun(gap.slice(1)) : null;
      if (relation !== null) found.push({ source: left.name, target: right.name, relation });
    }
    const isOfOther: boolean = statement === null && continuesOther(gap);
    const read: GapReading | null = isOwner || isOfOther ? null : readGap(gap, left, right);
    // `is George Washington cannibalistically developed` compares.
    const reading: GapReading | null = read?.relation === 'is' && !isEndOfClause(text, right) ? null : read;
    const next: Statement | null = reading === null ? null : statementOf(reading, { statement, group, isGoverned });
    const isChain: boolean = reading?.isPlace === true && gap.length === 1;
    isGoverned = isBehindPreposition(words, right) || (isChain && isGoverned);
    if (next === null || reading === null) {
      statement = null;
      group = [];
      continue;
    }
    state(found, next, right);
    joinCouple(found, next, right);
    // A place after a name locates it and leaves the statement open.
    if (!reading.isPlace || statement === null) statement = next;
    group = [];
  }
}

/** Relates two who married somewhere or once: `Sofia and Marc got married in Nice.` */
function joinCouple(found: FoundRelation[], { subjects, reading }: Statement, { type }: Argument): void {
  const [one, other, ...more] = subjects;
  const isCouple = one !== undefined && other !== undefined && more.length === 0;
  if (isCouple && (type === 'Place' || type === 'Date') && /^(?:marry|divorce)$/u.test(reading.lemma ?? ''))
    found.push({ source: one.name, target: other.name, relation: reading.lemma ?? '' });
}

/** Whether a verb behind `and` has the subject of a clause before the name: `We use Actions for tests and deploy to Hetzner.` */
function continuesOther(gap: readonly TaggedWord[]): boolean {
  const at = gap.findIndex(({ pos }) => pos === 'CCONJ');
  const isActive = ({ pos }: TaggedWord) => pos === 'VERB' || pos === 'AUX';
  return at > 0 && gap[at + 1]?.pos === 'VERB' && !gap.slice(0, at).some(isActive);
}

/** An office by its initials, which passes for a name. */
const OFFICE = /^(?:GP|C[A-Z]O|VP|MP|PA)$/u;

/** Reads `her brother Rafael` and `Its chief executive is Heidi Wolden`. */
export function ownedBy(
  pronouns: readonly (Pick<Argument, 'name' | 'end'> & { readonly isPossessive: boolean })[],
  words: readonly TaggedWord[],
  parts: readonly Argument[],
): FoundRelation[] {
  return pronouns.flatMap(({ name, end, isPossessive }): FoundRelation[] => {
    const owned = parts.find((part) => part.start >= end && !OFFICE.test(part.name));
    if (!isPossessive || owned === undefined || owned.name === name || owned.type === 'Date') return [];
    const gap = words.filter(
      (word) => word.start >= end && word.end <= owned.start && !/^(?:Dr|Prof|Mr|Mrs|Ms)\.?$/u.test(word.text),
    );
    const isStated = /^(?:is|are|was|were)$/u.test(gap.at(-1)?.text ?? '');
    const between = isStated ? gap.slice(0, -1) : gap;
    if (between.length > 3 || !between.every(({ pos, text }) => /^(?:ADJ|NOUN)$/u.test(pos) || OFFICE.test(text)))
      return [];
    // `His father was Swiss`, `Her aim is Rome by train`
    if (isStated && !/^(?:Person|Concept)$/u.test(owned.type)) return [];
    const relation = ownedNoun(between);
    return relation === null ? [] : [{ source: name, target: owned.name, relation }];
  });
}

/** Adjectives that belong to the name of an office. */
const OF_OFFICE = /^(?:chief|vice|deputy|managing|general)$/u;

/** Reads `Luna, Jonas's dog, slept`: Jonas has a dog, and does not sleep. */
function withoutOwners(text: string, { words, parts }: ClauseLevel, found: FoundRelation[]): ClauseLevel {
  let level: ClauseLevel = { words, parts };
  for (const [at, owner] of parts.entries()) {
    const thing = parts[at - 1];
    const isOwner = /^['’]s?(?!\p{L})/u.test(text.slice(owner.end, owner.end + 3));
    if (thing === undefined || !isOwner || !/^\s*,\s*$/u.test(text.slice(thing.end, owner.start))) continue;
    const behind = words.filter(({ start, text: word }) => start >= owner.end && !/^['’]s?$/u.test(word));
    const close = behind.find(({ pos }) => !/^(?:ADJ|NOUN)$/u.test(pos));
    const relation = close === undefined || close.pos === 'PUNCT' ? ownedNoun(behind) : null;
    if (relation === null) continue;
    found.push({ source: owner.name, target: thing.name, relation });
    const end = close?.text === ',' ? close.end : (close?.start ?? Number.POSITIVE_INFINITY);
    level = {
      words: level.words.filter(({ start }) => start < thing.end || start >= end),
      parts: level.parts.filter((part) => part !== owner),
    };
  }
  return level;
}

/** `manager` in `Alice is Bob's new manager`. */
function ownedNoun(phrase: readonly TaggedWord[]): string | null {
  const length = phrase.findIndex(
    ({ pos, text }) => !/^(?:ADJ|NOUN)$/u.test(pos) && !/^(?:new|former|first)$/u.test(text) && !OFFICE.test(text),
  );
  const at = (length === -1 ? phrase.length : length) - 1;
  const noun = phrase[at];
  if (noun?.pos !== 'NOUN' && !OFFICE.test(noun?.text ?? '')) return null;
  const before = phrase[at - 1]?.text.toLowerCase() ?? '';
  return `${OF_OFFICE.test(before) ? `${before}_` : ''}${noun?.lemma.toLowerCase()}`;
}

function isEndOfClause(text: string, { end }: Argument): boolean {
  return /^["”’)]*\s*(?:[.,;:!?)]|$|\((?:born|b\.|also)|(?:and|but|who|which)\b)/u.test(text.slice(end));
}

interface Situation {
  readonly statement: Statement | null;
  readonly group: readonly Argument[];
  readonly isGoverned: boolean;
}

/** Returns the statement that the words between two names belong to; null when it is not clear. */
function statementOf(reading: GapReading, { statement, group, isGoverned }: Situation): Statement | null {
  const own: Statement = { subjects: group, reading };
  if (reading.isPlace && reading.opening === 'direct' && reading.verb === null && reading.preposition === null) {
    return isGoverned && !group.every((one) => one.type === 'Place') ? null : own;
  }
  if (reading.preposition !== null) {
    // `studied at Girton College in Cambridge`, and `served with the army in Norfolk`
    const isWith = /_(?:with|by|for|to)$/u.test(statement?.reading.relation ?? '');
    if (reading.isPlace && group.every(({ type }) => type === 'Place' || (type === 'Organisation' && !isWith)))
      return own;
    if (/^(?:of|for)$/u.test(reading.preposition)) return null;
    if (statement !== null && statement.reading.verb !== null && !statement.reading.isPlace)
      return goneOn(statement, reading);
    return reading.isPlace && !isGoverned ? own : null;
  }
  const isShared = statement !== null && !statement.reading.isPlace;
  if (reading.opening === 'conjunction') return isShared ? { subjects: statement.subjects, reading } : null;
  if (reading.opening === 'participle') {
    const isOfSubject = isGoverned || !reading.isPassive;
    if (isShared && isOfSubject) return { subjects: statement.subjects, reading };
    return isGoverned ? null : own;
  }
  // `Rex was a German Shepherd who lived with us`
  if (reading.opening === 'relative' && isShared && statement.reading.relation === 'is')
    return { subjects: statement.subjects, reading };
  if (reading.opening === 'relative' && isGoverned) {
    return isShared && group.every((one) => one.type !== 'Person') ? { subjects: statement.subjects, reading } : own;
  }
  if (reading.opening === 'apposition') return own;
  return isGoverned && !reading.isOwner ? null : own;
}

/** `acquired B in 2004`; `written in 1851 by A`. */
function goneOn(statement: Statement, reading: GapReading): Statement {
  const { verb, lemma, isPassive } = statement.reading;
  const isAgent = isPassive && reading.preposition === 'by';
  const relation = isAgent ? (lemma ?? '') : `${verb}_${reading.preposition}`;
  return { subjects: statement.subjects, reading: { ...statement.reading, relation, isSwapped: isAgent } };
}

/** In `resigned, and Bell replaced him` Bell begins something new. */
function acts(words: readonly TaggedWord[], part: Argument): boolean {
  const next = words.find((word) => word.start >= part.end);
  return next?.pos === 'VERB' || next?.pos === 'AUX';
}

/** Returns where a name ends that is the subject of the verb behind it, with `, who`; null for any other. */
export function endOfActor(words: readonly TaggedWord[], part: Argument): number | null {
  const from = words.findIndex(({ start }) => start >= part.end);
  if (from === -1) return null;
  const [first, second, third] = words.slice(from, from + 6).filter(({ pos }) => pos !== 'ADV' && pos !== 'SPACE');
  const isRelative = first?.text === ',' && second?.text === 'who';
  const verb = isRelative ? third : first;
  if (verb?.pos !== 'VERB' && verb?.pos !== 'AUX') return null;
  if (isRelative) return second.end;
  return isBehindPreposition(words, part) ? null : part.end;
}

const NOMINATIVE = /^(?:he|she|I|we|they)$/iu;

/** Whether a name is governed by a preposition, which keeps it from being a subject. */
export function isBehindPreposition(words: readonly TaggedWord[], part: Pick<Argument, 'start'> | undefined): boolean {
  if (part === undefined) return false;
  const at = words.findIndex((word) => word.end > part.start);
  // `After her return to Portugal she founded`, `In 1959 Ilse moved`, `On Monday Tom called`
  if (NOMINATIVE.test(words[at]?.text ?? '') || isDateOfClause(words, at)) return false;
  const before = words.findLast((word) => word.end <= part.start && !/^(?:DET|ADJ|NUM|NOUN|PROPN)$/u.test(word.pos));
  return before !== undefined && (before.pos === 'ADP' || /^(?:to|than|like|as)$/iu.test(before.text));
}

/** Whether a year, month or weekday with its preposition ends in front of a word that a verb follows. */
function isDateOfClause(words: readonly TaggedWord[], at: number): boolean {
  const date = words[at - 1]?.text ?? '';
  const isDate = /^(?:1[0-9]|20)\d\d$/u.test(date) || CALENDAR_WORDS.has(date.toLowerCase());
  if (!isDate || !words.slice(Math.max(0, at - 4), at - 1).some(({ pos }) => pos === 'ADP')) return false;
  const next = words.slice(at).find(({ pos }) => pos !== 'PROPN');
  return next?.pos === 'VERB' || next?.pos === 'AUX';
}

/** Reads `Viktor, whom she married in 1962` and `the studio Fluid, which Mark founded`: the name in front is the object. */
export function ofRelativeClauses(words: readonly TaggedWord[], parts: readonly Argument[]): FoundRelation[] {
  return parts.slice(0, -1).flatMap((object, at): FoundRelation[] => {
    const subject = parts[at + 1] as Argument;
    const gap = words.filter(({ start, end }) => start >= object.end && end <= subject.start);
    const [pronoun, ...more] = gap.filter(({ text }) => text !== ',');
    if (more.length > 0 || gap.length > 2 || !/^(?:whom|which)$/u.test(pronoun?.text ?? '')) return [];
    if ((pronoun?.text === 'whom') !== (object.type === 'Person') || object.name === subject.name) return [];
    const [verb, next] = words.filter(
      ({ start, pos, text }) => start >= subject.end && pos !== 'ADV' && !/^(?:has|had|have)$/u.test(text),
    );
    const isAlone = next === undefined || next.pos === 'PUNCT' || /^(?:in|on|at|after|before|during)$/u.test(next.text);
    if (verb?.pos !== 'VERB' || !isAlone || !/^(?:Person|Organisation|Concept)$/u.test(subject.type)) return [];
    return [{ source: subject.name, relation: snakeCase(lemmaOf(verb)), target: object.name }];
  });
}

function state(found: FoundRelation[], { subjects, reading }: Statement, object: Argument): void {
  for (const subject of subjects) {
    const [source, target] = reading.isSwapped ? [object, subject] : [subject, object];
    if (source.name === target.name || source.type === 'Date' || reading.relation === '') continue;
    found.push({ source: source.name, target: target.name, relation: reading.relation });
  }
}

function isListGap(gap: readonly TaggedWord[], between: string, left: Argument, right: Argument): boolean {
  if (gap.length > 4 || !gap.every((word) => LIST_GAP.has(word.pos))) return false;
  if (/[;:"“”]/u.test(between)) return false;
  if (/\b(?:and|or)\b|&/iu.test(between)) return true;
  const areAlike = left.type === right.type || left.type === 'Concept' || right.type === 'Concept';
  const areListed = areAlike && ![left, right].some(({ type }) => type === 'Place' || type === 'Date');
  return /^\s*(?:\([^)]*\))?,\s*$/u.test(between) && areListed;
}

/** Whether places form a list, by the `and` at its end: `France, Italy, and Switzerland`, but not `Kingston, Jamaica`. */
function isPlaceList(text: string, parts: readonly Argument[], at: number): boolean {
  let end = at;
  while (isCommaBetweenPlaces(text, parts[end], parts[end + 1])) end++;
  return end > at && /^\s*,?\s+(?:and|or)\s+(?:the\s+|\p{Ll}+\s+in\s+)?\p{Lu}/u.test(text.slice(parts[end]?.end));
}

function isCommaBetweenPlaces(text: string, left: Argument | undefined, right: Argument | undefined): boolean {
  if (left?.type !== 'Place' || right?.type !== 'Place') return false;
  return /^\s*,\s*$/u.test(text.slice(left.end, right.start));
}
