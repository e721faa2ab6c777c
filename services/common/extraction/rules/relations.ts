import { type GapReading, readGap } from './gap-reading.ts';
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
  /** snake_case: lemma of the verb, participle of a passive, noun; then its preposition. */
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
 * round), copulas with a noun (`capital of`), possessives, prepositions, a place after a comma. Members of a list share
 * subject and relation; `and` with a verb, or a further preposition, goes on with the subject before.
 */
export function relationsOf(text: string, words: readonly TaggedWord[], parts: readonly Argument[]): FoundRelation[] {
  const found: FoundRelation[] = [];
  const visible = withoutParentheses(words, parts);
  let statement: Statement | null = null;
  let group: Argument[] = [];
  for (let at = 0; at + 1 < parts.length && found.length < MAX_RELATIONS; at++) {
    const left = parts[at] as Argument;
    const right = parts[at + 1] as Argument;
    const gap = visible.filter((word) => word.start >= left.end && word.end <= right.start);
    if (group.length === 0) group = [left];
    if (isListGap(gap, text.slice(left.end, right.start), left, right)) {
      if (statement === null) group.push(right);
      else state(found, statement, right);
      continue;
    }
    const reading = readGap(gap, left, right);
    if (reading === null) {
      statement = null;
      group = [];
      continue;
    }
    const next: Statement = continued(statement, reading) ?? { subjects: group, reading };
    state(found, next, right);
    // A place behind a name says where that is and leaves the statement open.
    if (!reading.isPlace || statement === null) statement = next;
    group = [];
  }
  return found;
}

/** `acquired B in 2004` and `written by A and illustrated by B` go on with the subject of the statement before. */
function continued(statement: Statement | null, reading: GapReading): Statement | null {
  if (statement === null || reading.isPlace) return null;
  if (reading.startsWithConjunction) return { subjects: statement.subjects, reading };
  if (!reading.isPreposition || statement.reading.verb === null) return null;
  const { verb, lemma, isPassive } = statement.reading;
  const isAgent = isPassive && reading.relation === 'by';
  const relation = isAgent ? (lemma ?? verb) : `${verb}_${reading.relation}`;
  return {
    subjects: statement.subjects,
    reading: { ...statement.reading, relation, isSwapped: isAgent },
  };
}

function state(found: FoundRelation[], { subjects, reading }: Statement, object: Argument): void {
  for (const subject of subjects) {
    const [source, target] = reading.isSwapped ? [object, subject] : [subject, object];
    if (source.name === target.name || source.type === 'Date' || reading.relation === '') continue;
    found.push({ source: source.name, target: target.name, relation: reading.relation });
  }
}

/** What stands in parentheses is said aside, unless it holds a name itself. */
function withoutParentheses(words: readonly TaggedWord[], parts: readonly Argument[]): readonly TaggedWord[] {
  const visible: TaggedWord[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as TaggedWord;
    if (word.pos === 'SPACE') continue;
    const close = word.text === '(' ? words.findIndex((other, index) => index > at && other.text === ')') : -1;
    const end = words[close]?.end ?? 0;
    const isAside = close !== -1 && !parts.some((part) => part.start >= word.start && part.end <= end);
    if (isAside) at = close;
    else visible.push(word);
  }
  return visible;
}

function isListGap(gap: readonly TaggedWord[], between: string, left: Argument, right: Argument): boolean {
  if (gap.length > 4 || !gap.every((word) => LIST_GAP.has(word.pos))) return false;
  if (/[;:"“”]/u.test(between)) return false;
  if (/\b(?:and|or)\b|&/iu.test(between)) return true;
  return /^\s*(?:\([^)]*\))?,\s*$/u.test(between) && left.type === right.type && left.type !== 'Place';
}
