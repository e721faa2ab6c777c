import type { Supersession } from '../../common/records/cognify/supersessions.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import type { RankedPassage } from '../model.ts';
import type { TimeWindow } from '../retrieval/query-analysis.ts';
import { type Question, wordsOf } from './question.ts';
import type { PlacedStatement, ReadPassage } from './rank-sentences.ts';
import { dateText } from './sentence-times.ts';
import { verbatimOf } from './statements.ts';

/** A sentence's statement of a fact that has changed. */
interface Change {
  readonly supersession: Supersession;
  /** Says the former value, and is omitted from results. */
  readonly isOver: boolean;
}

type Marked = ReadPassage & Partial<Pick<RankedPassage, 'explanation'>>;

/** Returns the change that a sentence belongs to, the last one of several; null without one. */
export function changeOf({ passage, statement }: PlacedStatement): Change | null {
  const marks = (passage as Marked).explanation?.statements ?? [];
  const own = marks.filter(({ text, state }) => state !== 'not_yet' && text.includes(verbatimOf(statement)));
  const over = own.find(({ state }) => state === 'superseded');
  if (over !== undefined) return { supersession: over.supersession, isOver: over.isOmitted };
  const [last] = own.toSorted((a, b) => (a.supersession.older.from < b.supersession.older.from ? 1 : -1));
  return last === undefined ? null : { supersession: last.supersession, isOver: false };
}

/** Whether a sentence states what is so only later than the time that is asked about. */
export function isNotYet({ passage, statement }: PlacedStatement): boolean {
  const marks = (passage as Marked).explanation?.statements ?? [];
  return marks.some(({ text, state }) => state === 'not_yet' && text.includes(verbatimOf(statement)));
}

/** Names of a property in questions, beside its own; in German, Spanish and French what a speaker says of itself. */
const ASKED_AS: ReadonlyMap<string, string> = new Map([
  ['lives_in', 'live home move town city reside wohne lebe vivo habite vis'],
  ['works_at', 'work job employer employed company arbeite trabajo travaille'],
  ['studies_at', 'study school university student studiere estudio étudie'],
  ['based_in', 'based headquarters office'],
  ['located_in', 'where located'],
  ['spouse', 'married wife husband spouse partner verheiratet casado casada marié mariée'],
  ['price', 'price cost much pay'],
  ['phone', 'phone telephone number call reach'],
  ['prefers', 'prefer like favourite favorite drink bevorzuge prefiero préfère'],
  ['due date', 'due deadline'],
]);
const MIN_LIKENESS = 0.6;
/** `j'habite`. */
const ELISION = /^(?:[jlmts]|qu)['’]/u;

/** Whether a question asks for the property that has changed. */
export function asksFor({ text }: Question, { supersession: { predicate } }: Change): boolean {
  const names = `${ASKED_AS.get(predicate) ?? ''} ${predicate.replaceAll('_', ' ')}`.trim().split(/\s+/u);
  return wordsOf(text)
    .map((word) => word.replace(ELISION, ''))
    .some((word) => names.some((name) => word === name || wordTable().similarity(word, name) >= MIN_LIKENESS));
}

const FORMER = /\b(?:before|previous(?:ly)?|former(?:ly)?|used to|earlier|originally|no longer|old)\b/iu;

/** Whether a question asks about a time before the change. */
export function isBeforeChange({ supersession: { newer } }: Change, window: TimeWindow | null): boolean {
  return window?.until != null && window.until <= new Date(newer.from);
}

/**
 * The answer to a question about a fact that has changed: the latest value and the former one. Null when it asks whether
 * something else is true.
 */
export function changedAnswer({ text, type }: Question, change: Change, window: TimeWindow | null): string | null {
  const { supersession } = change;
  const { older, newer, reason } = supersession;
  const since = dateText(newer.from);
  if (type === 'date') return since;
  const asked = ` ${wordsOf(text).join(' ')} `;
  const names = (value: string) => asked.includes(` ${wordsOf(value).join(' ')} `);
  const isEnd = reason === 'ended';
  if (type === 'yes-no' && !/ or /iu.test(text)) {
    if (names(older.value) && !names(newer.value)) return `No, ${isEnd ? 'not' : newer.value} since ${since}`;
    if (names(newer.value) && !isEnd) return `Yes, since ${since}; before: ${older.value}`;
    return null;
  }
  if (isBeforeChange(change, window)) return `${older.value} (until ${since})`;
  if (isEnd) return `${older.value} until ${since}`;
  if (FORMER.test(text)) return `${older.value} (until ${since}; now: ${newer.value})`;
  return `${newer.value} (since ${since}; before: ${older.value})`;
}
