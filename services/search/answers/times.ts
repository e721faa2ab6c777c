import { timeOfMetadata } from '../../common/domain/item-time.ts';
import { dates } from '../../common/text/language/dates.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import type { RankedSentence, ReadPassage, Sentence } from './rank-sentences.ts';

/** `2 March 2026`; `March 2026` for the beginning of a month, `2026` for that of a year. */
export function dateText(time: string | Date): string {
  const date = new Date(time);
  const isDay = date.getUTCDate() > 1 || date.getUTCHours() + date.getUTCMinutes() > 0;
  const isMonth = isDay || date.getUTCMonth() > 0;
  const [day, month] = [isDay ? ({ day: 'numeric' } as const) : {}, isMonth ? ({ month: 'long' } as const) : {}];
  return date.toLocaleDateString('en-GB', { ...day, ...month, year: 'numeric', timeZone: 'UTC' });
}

/** When a passage was said: the date of its item, else when it was added. */
export function saidAt({ payload }: ReadPassage): Date {
  return new Date(timeOfMetadata(payload.externalMetadata) ?? payload.createdAt);
}

/** `4 March 2026 (yesterday)` for a date that is relative to that of its passage; other dates as they are. */
export function absoluteDate(text: string, passage: ReadPassage): string {
  const [date] = dates(text, saidAt(passage));
  return date?.isRelative === true ? `${spanText(date)} (${text.charAt(0).toLowerCase()}${text.slice(1)})` : text;
}

function spanText({ precision, name, from, until }: TimeSpan): string {
  if (precision === 'year' || precision === 'month') return dateText(from);
  if (precision === 'day') return dayText(from);
  if (precision !== 'span') return name;
  return `${dayText(from)} to ${dayText(new Date(until.getTime() - 1))}`;
}

function dayText(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** `did I last see`, and neither `did the storm last` nor `last week`. */
const LAST =
  /^(?!.*\bhow long\b).*\b(?:(?:did|have|has|was|were|is|are) (?:\p{L}+ ){1,4}last(?= \p{L})|last time|(?:most recent|latest)(?:ly)?)\b(?! (?:name|night|week|weekend|month|year|spring|summer|autumn|fall|winter))/iu;
/** The question without the word for the last of several, which no sentence needs to have. */
export function withoutLast(text: string): string {
  return LAST.test(text) ? text.replace(/ (?:last|most recent(?:ly)?|latest)\b/iu, '') : text;
}

const PRESENT = /\b(?:do|does|is|are|am|now|current(?:ly)?)\b/iu;
const NOT_PRESENT = /\b(?:did|was|were|had|before|former(?:ly)?|first|used to|why|since when|how long)\b/iu;
const CHANGED =
  /^(?:since|from|as of|now|today|but now)\s|\b(?:now|nowadays|since then|no longer|instead|these days)\b/iu;

/** For a question about the present: puts the sentence first that says, later in the passage, what is so now. */
export function changeFirst(text: string, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || !PRESENT.test(text) || NOT_PRESENT.test(text) || CHANGED.test(best.statement.text))
    return ranked;
  const changed = ranked.find(
    ({ passage, statement, features }) =>
      passage.id === best.passage.id &&
      features.place < best.features.place &&
      CHANGED.test(statement.text) &&
      sharesVerb(best.statement.text, statement.text),
  );
  if (changed === undefined) return ranked;
  const { score, probability, confidence } = best;
  const former = { ...best, score: changed.score, probability: probability / 2 };
  const others = ranked.filter((one) => one !== changed && one !== best);
  return [{ ...changed, score, probability, confidence }, former, ...others];
}

/** Whether two sentences say the same of a subject: `I go to the gym`, `Since 2025 I go to the pool`. */
function sharesVerb(one: string, other: string): boolean {
  const verb = /\b((?:I|we|he|she|it|they|\p{Lu}\p{Ll}+) \p{Ll}+ \p{Ll}+)\b/u;
  const [first, second] = [one, other].map((text) => verb.exec(text)?.[1]);
  return first !== undefined && first === second;
}

/** Sentences that may miss so much more of the question than the best one are about the same. */
const MISSING_MORE = 0.1;
const SENTENCES_READ = 6;

/** Factor of the probability of a sentence about an earlier time. */
const OLDER = 0.05;

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

function timeOf({ statement, passage }: Sentence): number {
  const anchor = saidAt(passage);
  return (dates(statement.text, anchor).at(-1)?.from ?? anchor).getTime();
}
