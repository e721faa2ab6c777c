import type { TimeSpan } from '../../common/text/language/time-span.ts';
import { isWithin } from '../retrieval/lanes.ts';
import type { TimeWindow } from '../retrieval/query-analysis.ts';
import { type Asked, contentWords } from './question.ts';
import { MISSING_MORE, putFirst, putWantedFirst, type RankedSentence, type Sentence } from './rank-sentences.ts';
import { datesOf, saidAt, timesOfSentence, undatedTime, writtenAt } from './sentence-times.ts';
import { MONTHS, spansOf } from './spans.ts';
import { type Statement, statementsOf } from './statements.ts';
import type { Row } from './table-rows.ts';

/** Maximum share of the question's information that a sentence may miss whose date stands above it. */
const MAX_MISSING_OF_DATED = 0.3;

/** Whether a sentence tells what a question asks the date of, and only its headings or its note say when it was. */
export function isDatedByContext(sentence: RankedSentence | undefined): sentence is RankedSentence {
  if (sentence === undefined || sentence.features.missing > MAX_MISSING_OF_DATED) return false;
  const hasTime = spansOf(sentence.statement.text, ['date']).length > 0;
  return !hasTime && datesOf(sentence).length === 0 && undatedTime(sentence) !== null;
}

/** Puts a sentence with a date of its own first, where the best one, about the same, has only that of its headings or its note. */
export function datedFirst(ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  if (!isDatedByContext(ranked[0])) return ranked;
  return putWantedFirst(ranked, SENTENCES_READ, (one) => datesOf(one).length > 0);
}

/** Whether a question names a day, or a month with its year. */
export function namesMonth(query: string, window: TimeWindow | null): boolean {
  return isMonthOrDay(window) && SAYS_YEAR.test(query);
}

/** Whether a question names a month or a day of it without the year: of which year it is, the texts tell. */
export function isMonthOfAnyYear(query: string, window: TimeWindow | null): boolean {
  return isMonthOrDay(window) && MONTH_NAME.test(query) && !SAYS_YEAR.test(query) && !SAYS_WHICH_YEAR.test(query);
}

const isMonthOrDay = (window: TimeWindow | null): boolean =>
  window?.from != null && window.until !== null && window.until.getTime() - window.from.getTime() <= MONTH;

const SAYS_YEAR = /(?<!\d)\d{4}(?!\d)/u;
const SAYS_WHICH_YEAR = /\b(?:this|last|next|coming|past)\b/iu;
const MONTH_NAME = new RegExp(`\\b(?:${MONTHS})\\b`, 'u');

/** Whether a time lies in the month and on the days of a window, of whatever year. */
function isWithinAnyYear(span: Pick<TimeSpan, 'from' | 'until'>, { from, until }: TimeWindow): boolean {
  if (from === null || until === null || span.until.getTime() - span.from.getTime() > MONTH) return false;
  const years = span.from.getUTCFullYear() - from.getUTCFullYear();
  const moved = (date: Date) =>
    new Date(Date.UTC(date.getUTCFullYear() + years, date.getUTCMonth(), date.getUTCDate()));
  return isWithin(span, { from: moved(from), until: moved(until) });
}

const MONTH = 31 * 86_400_000;
/** Factor of the probability of a sentence about another time than that of the question. */
const OTHER_TIME = 0.02;

/**
 * Puts sentences of another time than that of a question behind the others, when some are of that time. Their own dates tell
 * only for a time relative to now, or a month of a year: what is true of a year is often told with the dates of others.
 */
export function inTimeFirst(
  ranked: readonly RankedSentence[],
  window: TimeWindow | null,
  { isSure, isOfAnyYear }: { readonly isSure: boolean; readonly isOfAnyYear: boolean },
): readonly RankedSentence[] {
  if (window === null) return ranked;
  const times = ranked.map((sentence) => timesOfSentence(sentence));
  const isInWindow = (span: TimeSpan) => isWithin(span, window) || (isOfAnyYear && isWithinAnyYear(span, window));
  const isIn = times.map((spans) => spans.some(isInWindow));
  if (!isIn.includes(true)) return ranked;
  const isTold = ranked.map((sentence) => isSure || datesOf(sentence).length === 0);
  const isOther = (at: number) => isIn[at] === false && isTold[at] === true && (times[at]?.length ?? 0) > 0;
  const others = ranked.filter((_, at) => isOther(at));
  if (others.length === 0) return ranked;
  const best = ranked.find((_, at) => !isOther(at));
  const factor = (best?.probability ?? 1) * OTHER_TIME;
  return [
    ...ranked.filter((_, at) => !isOther(at)),
    ...others.map((one) => ({ ...one, probability: Math.min(one.probability, factor) })),
  ];
}

/** `did I last see`, and neither `did the storm last` nor `last week`. */
const LAST =
  /^(?!.*\bhow long\b).*\b(?:(?:did|have|has|was|were|is|are) (?:\p{L}+ ){1,4}last(?= \p{L})|last time|(?:the|my|our) last(?= \p{Ll})|(?:most recent|latest)(?:ly)?)\b(?! (?:name|words?|page|one|two|three|day|train|bus|night|week|weekend|month|year|spring|summer|autumn|fall|winter))/iu;
/** The question without the word for the last of several, which no sentence needs to have. */
export function withoutLast(text: string): string {
  return LAST.test(text) ? text.replace(/ (?:last|most recent(?:ly)?|latest)\b/iu, '') : text;
}

const PRESENT = /\b(?:do|does|is|are|am|now|current(?:ly)?)\b/iu;
const NOT_PRESENT = /\b(?:did|was|were|had|before|former(?:ly)?|first|used to|why|since when|how long)\b/iu;
const CHANGED =
  /(?:^|: )(?:since|from|as of|now|today|but now)\s|\b(?:now|nowadays|since then|no longer|instead|these days)\b/iu;

/** For a question about the present: puts the sentence first that says, later in the passage, what is so now. */
export function changeFirst(text: string, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || !PRESENT.test(text) || NOT_PRESENT.test(text) || CHANGED.test(best.statement.text))
    return ranked;
  const alike = ranked
    .slice(0, FORMER_READ)
    .filter(({ features }) => features.missing <= best.features.missing + MISSING_MORE);
  for (const former of alike) {
    const changed = ranked.find(
      ({ passage, statement, features }) =>
        passage.id === former.passage.id &&
        features.place < former.features.place &&
        CHANGED.test(statement.text) &&
        sharesVerb(former.statement.text, statement.text),
    );
    if (changed === undefined) continue;
    const { score, probability, confidence } = best;
    const before = { ...former, score: changed.score, probability: probability / 2 };
    const others = ranked.filter((one) => one !== changed && one !== former);
    return [{ ...changed, score, probability, confidence }, before, ...others];
  }
  return ranked;
}

/** Share of a question's information that a newer sentence must have by itself to be about the same. */
const MIN_SAME = 0.4;
/** How much less of it than the best one it may have. */
const SAME_LESS = 0.05;
/** `From June we open until 19:30`, and no time of the day. */
const SAYS_CHANGE = /(?:^|: )(?:since|from|as of|but now|now)\s(?!\d{1,2}[:.]\d\d)|\b(?:now|no longer|these days)\b/iu;

/**
 * For a question about the present: puts a sentence of another passage first that says as much of it, with a value of the same
 * kind, and was said later, or says itself that something changed.
 */
export function newerFirst({ text, type }: Asked, ranked: readonly RankedSentence[]) {
  const [best] = ranked;
  if (best === undefined || !PRESENT.test(text) || NOT_PRESENT.test(text) || !VALUES.has(type)) return ranked;
  if (SAYS_CHANGE.test(best.statement.text)) return ranked;
  const own = saidWhen(best);
  const newer = ranked.slice(1, SENTENCES_READ).find((one) => {
    const { soft, hasType } = one.features;
    if (one.passage.id === best.passage.id || hasType < 1) return false;
    if (soft < MIN_SAME || soft < best.features.soft - SAME_LESS) return false;
    const at = saidWhen(one);
    if (SAYS_CHANGE.test(one.statement.text)) return own === null || at === null || at >= own;
    return own !== null && at !== null && at > own && one.features.missing <= best.features.missing + MISSING_MORE;
  });
  if (newer === undefined) return ranked;
  const { score, probability, confidence } = best;
  const before = { ...best, score: newer.score, probability: probability / 2 };
  return [
    { ...newer, score, probability, confidence },
    before,
    ...ranked.filter((one) => one !== best && one !== newer),
  ];
}

/** Types of questions for a value that changes. */
const VALUES: ReadonlySet<string> = new Set(['number', 'date', 'person', 'place']);

/** When a sentence was said, by the headings above it or the date of its passage; null when neither says so. */
const saidWhen = ({ statement, passage }: Sentence): number | null =>
  (statement.time?.from ?? writtenAt(passage))?.getTime() ?? null;

/** Returns the sentence beside a row that says what is so now of what a question and the row name; null without one. */
export function changedSince(question: string, { cells, passage }: Row): Statement | null {
  if (!PRESENT.test(question) || NOT_PRESENT.test(question)) return null;
  const held = new Set(contentWords(cells.join(' ')));
  const named = contentWords(question).filter((word) => held.has(word));
  const isNew = ({ text }: Statement) =>
    CHANGED.test(text) && /\d/u.test(text) && named.every((word) => contentWords(text).includes(word));
  return named.length === 0 ? null : (statementsOf(passage).find(isNew) ?? null);
}

/** Best sentences that may tell what was so before. */
const FORMER_READ = 3;

/** Whether two sentences say the same of a subject: `I go to the gym`, `Since 2025 I go to the pool`; `the rent is`. */
function sharesVerb(one: string, other: string): boolean {
  const verb = /\b((?:I|we|he|she|it|they|\p{Lu}\p{Ll}+) \p{Ll}+ \p{Ll}+|[Tt]he \p{Ll}+ (?:is|are|costs?))\b/u;
  const [first, second] = [one, other].map((text) => verb.exec(text)?.[1]?.toLowerCase());
  return first !== undefined && first === second;
}

const SENTENCES_READ = 6;

/** Factor of the probability of a sentence about an earlier time. */
const OLDER = 0.05;

/** `our first harvest`, `did we first meet`. */
const FIRST = /\b(?:(?:my|our) (?:very )?first(?= \p{Ll})|did (?:I|we) (?:\p{L}+ )?first(?= \p{L}))/u;
const SAYS_FIRST = /\bfirst\b/iu;

/** Puts a sentence that says it was the first before the best one, about the same, when a question asks for the first of several. */
export function firstFirst(text: string, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || !FIRST.test(text) || SAYS_FIRST.test(best.statement.text)) return ranked;
  return putWantedFirst(ranked, SENTENCES_READ, ({ statement }) => SAYS_FIRST.test(statement.text));
}

const ASKS_BEFORE = /\bdid\b.*\bbefore\b/iu;
const SAYS_BEFORE = /^(?:before (?:that|then)|previously|prior to (?:that|this)|until then|formerly|earlier),? /iu;

/** For what was before something: puts the sentence first that says what was before the best one, which it follows. */
export function formerFirst(text: string, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || !ASKS_BEFORE.test(text) || /\bbefore\b/iu.test(best.statement.text)) return ranked;
  const all = statementsOf(best.passage);
  const next = all[all.indexOf(best.statement) + 1];
  const former =
    next === undefined || !SAYS_BEFORE.test(next.text) ? -1 : ranked.findIndex((one) => one.statement === next);
  const found = ranked[former];
  return found === undefined ? ranked : putFirst(found, ranked);
}

/** Puts the sentence with the latest time first when a question asks for the last of several events. */
export function latestFirst(text: string, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || !LAST.test(text)) return ranked;
  const alike = ranked
    .slice(0, SENTENCES_READ)
    .filter(({ features }) => features.missing <= best.features.missing + MISSING_MORE);
  const latest = alike.reduce((last, one) => (timeOf(one) > timeOf(last) ? one : last), best);
  if (latest === best) return ranked;
  const { score, probability, confidence } = best;
  const others = ranked.filter((one) => one !== latest);
  const older = others.map((one) => (alike.includes(one) ? { ...one, probability: OLDER * one.probability } : one));
  return [{ ...latest, score, probability, confidence }, ...older];
}

function timeOf(sentence: Sentence): number {
  const { statement, passage } = sentence;
  return (datesOf(sentence).at(-1)?.from ?? statement.time?.from ?? saidAt(passage)).getTime();
}
