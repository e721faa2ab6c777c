import { MONTHS, oneOf, SEASONS, WEEKDAYS } from '../../common/text/language/calendar-words.ts';
import { dates } from '../../common/text/language/dates.ts';
import { names } from '../../common/text/language/names.ts';
import { asksOwnName } from '../../common/text/language/own-name.ts';
import type { DateMention } from '../../common/text/language/time-span.ts';
import { stemOf, stopWordsOfQuery, tokenizeQuery } from '../../common/text/language/tokenize.ts';
import { inEnglish } from './english-question.ts';

export interface TimeWindow {
  /** Null: open (`before 1990`, `since March`). */
  readonly from: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
}

export interface QueryAnalysis {
  readonly text: string;
  /** `tokenizeQuery(text)`, and the English terms of a question in another language. */
  readonly terms: readonly string[];
  /** The word of each term in lower case, for comparison by meaning; null for names and numbers. */
  readonly words: readonly (string | null)[];
  /** Distinct names, quoted titles and identifiers, in order. */
  readonly entities: readonly string[];
  readonly timeWindow: TimeWindow | null;
  /** The parts of the text that name a time by nothing but its distance from now: `last week`. */
  readonly relativeTimes: readonly string[];
  /** What relative times count from; null: only absolute ones are known. */
  readonly now: Date | null;
}

/** Characters of a query that are analysed: more is a pasted text. */
const MAX_ANALYSED_LENGTH = 4000;

/** Words of notes that say whose they are. */
const INTRODUCTION = 'user called';

/** Analyses a question without a model. `now` anchors relative dates; without it only absolute ones are found. */
export function analyseQuery(query: string, options: { readonly now?: Date } = {}): QueryAnalysis {
  const text = query.slice(0, MAX_ANALYSED_LENGTH).replace(/\s+/gu, ' ').trim();
  const english = inEnglish(text, () => false);
  // Notes say whose they are without a word of that question.
  const own = asksOwnName(text) ? [INTRODUCTION] : [];
  const asked = [text, ...(english === null ? [] : [english]), ...own];
  const terms = [...new Set(asked.flatMap(tokenizeQuery))];
  const mentions = dates(text, options.now);
  return {
    text,
    terms,
    words: wordsOf(asked.join(' '), terms),
    entities: entitiesOf(text),
    timeWindow: windowOf(text, mentions),
    relativeTimes: mentions
      .filter((mention) => mention.isRelative && !NAMES_TIME.test(mention.text))
      .map((mention) => mention.text),
    now: options.now ?? null,
  };
}

function wordsOf(text: string, terms: readonly string[]): readonly (string | null)[] {
  const words = new Map<string, string>();
  for (const [at, word] of (text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? []).entries()) {
    const lower = word.toLowerCase();
    if (word === lower || at === 0) words.set(stemOf(lower), lower);
  }
  return terms.map((term) => words.get(term) ?? null);
}

function entitiesOf(text: string): readonly string[] {
  const isStopWord = stopWordsOfQuery(text);
  const mentions = names(text).filter(
    (name) => name.kind !== 'quantity' && (name.text === name.text.toUpperCase() || !isStopWord(name.text)),
  );
  return [...new Set(mentions.map((mention) => mention.text))];
}

function windowOf(text: string, mentions: readonly DateMention[]): TimeWindow | null {
  let from: Date | null = null;
  let until: Date | null = null;
  let isBounded = false;
  for (const mention of mentions) {
    const before = text.slice(Math.max(0, mention.start - 16), mention.start);
    const bound = boundOf(before);
    if (bound.from !== undefined) from = earliest(from, bound.from === 'from' ? mention.from : mention.until);
    if (bound.until !== undefined) until = latest(until, bound.until === 'from' ? mention.from : mention.until);
    isBounded = true;
  }
  if (!isBounded) return null;
  return from !== null && until !== null && from > until ? { from: until, until: from } : { from, until };
}

/** Words of times that texts use, too. */
const NAMES_TIME = new RegExp(
  `(?<!\\p{L})(?:this|current|${[MONTHS, SEASONS, WEEKDAYS].map(oneOf).join('|')})(?!\\p{L})`,
  'iu',
);

interface Bound {
  readonly from?: 'from' | 'until';
  readonly until?: 'from' | 'until';
}

function boundOf(before: string): Bound {
  if (
    /(?:\b(?:before|prior to|earlier than|until|till|up to|vor|bis|antes del?|hasta|avant|jusqu['’](?:en|à|au)))\s+(?:the\s+|dem\s+|l['’])?$/iu.test(
      before,
    )
  )
    return { until: 'from' };
  if (/\b(?:after|later than|nach|después del?|despues del?|après)\s+(?:the\s+|dem\s+)?$/iu.test(before))
    return { from: 'until' };
  if (/\b(?:since|from|starting|seit|ab|desde|depuis)\s+(?:the\s+|dem\s+)?$/iu.test(before)) return { from: 'from' };
  if (/\b(?:by)\s+(?:the\s+)?$/iu.test(before)) return { until: 'until' };
  return { from: 'from', until: 'until' };
}

function earliest(left: Date | null, right: Date): Date {
  return left !== null && left < right ? left : right;
}

function latest(left: Date | null, right: Date): Date {
  return left !== null && left > right ? left : right;
}
