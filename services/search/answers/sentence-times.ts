import { timeOfMetadata } from '../../common/domain/item-time.ts';
import { dates } from '../../common/text/language/dates.ts';
import { anchorBelow } from '../../common/text/language/heading-dates.ts';
import type { DateMention, TimeSpan } from '../../common/text/language/time-span.ts';
import type { Statement } from './statements.ts';
import type { PassagePayload } from './told-turns.ts';

/** A sentence with the passage that says it. */
interface Said {
  readonly passage: PassagePayload;
  readonly statement: Statement;
}

/** `2 March 2026`; `March 2026` for the beginning of a month, `2026` for that of a year. */
export function dateText(time: string | Date): string {
  const date = new Date(time);
  const isDay = date.getUTCDate() > 1 || date.getUTCHours() + date.getUTCMinutes() > 0;
  const isMonth = isDay || date.getUTCMonth() > 0;
  const [day, month] = [isDay ? ({ day: 'numeric' } as const) : {}, isMonth ? ({ month: 'long' } as const) : {}];
  return date.toLocaleDateString('en-GB', { ...day, ...month, year: 'numeric', timeZone: 'UTC' });
}

/** When a passage says that it was written, or its metadata; null when neither does. */
export function writtenAt({ payload }: Said['passage']): Date | null {
  const time = payload.writtenAt ?? timeOfMetadata(payload.externalMetadata);
  return time === null ? null : new Date(time);
}

/** When a passage was said: the date of its item, else when it was added. */
export function saidAt(passage: Said['passage']): Date {
  return writtenAt(passage) ?? new Date(passage.payload.createdAt);
}

/** The dates of a sentence; relative ones count from the day above it, or from when its passage was said. */
export function datesOf({ passage, statement: { text, time } }: Said, part = text): readonly DateMention[] {
  return dates(part, anchorBelow(time, saidAt(passage)) ?? undefined);
}

/** The times that a sentence tells of: its own dates, else that of its headings, else the day on which its passage was written. */
export function timesOfSentence(said: Said): readonly TimeSpan[] {
  const known = said.passage.payload.dates ?? [];
  // What is relative in a book of unknown date is no time.
  const own = datesOf(said).filter(({ isRelative, name }) => !isRelative || known.includes(name));
  if (own.length > 0) return own;
  const { time } = said.statement;
  if (time !== null) return [time];
  const written = writtenAt(said.passage);
  return written === null ? [] : [dayAround(written)];
}

export function dayAround(time: Date): TimeSpan {
  const name = time.toISOString().slice(0, 10);
  const from = new Date(`${name}T00:00:00Z`);
  return { name, precision: 'day', from, until: new Date(from.getTime() + 86_400_000) };
}

/** When it was that a sentence without a date tells of, by its headings or, of what somebody did, by the day of writing; null when nothing says so. */
export function undatedTime(said: Said): string | null {
  const { time, text, asked = '' } = said.statement;
  // `Every Wednesday`; and who replies to `when` says when it is.
  if (RECURRING.test(text) || ASKS_WHEN.test(asked)) return null;
  // What somebody is about to do is not done on the day of saying so.
  if (said.statement.verbatim !== undefined && IS_TO_COME.test(text)) return null;
  if (time !== null) return spanText(time);
  const written = writtenAt(said.passage);
  return written === null || !DONE_BY_SPEAKER.test(text) ? null : dayText(written);
}

const RECURRING =
  /\b(?:every|each|usually|always) (?:\p{L}+ )?(?:day|week|month|year|morning|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)s?\b/iu;
const IS_TO_COME =
  /\b(?:will|going to|wants? to|plan(?:s|ning)?|hop(?:e|es|ing) to|(?:am|is|are) \p{L}+ing)\b|['’](?:ll|(?:m|re) \p{L}+ing)\b/iu;
const ASKS_WHEN = /\b(?:when|what time|which day|what day)\b[^.!]*$/iu;
const DONE_BY_SPEAKER =
  /\b(?:I|[Ww]e)(?: \p{Ll}+ly| have| just)? (?:\p{Ll}+ed|decided|met|went|bought|sold|made|got|had|saw|took|began|left|lost|won|ate|gave|told|wrote|read|ran|quit|paid|built|found|sent|spoke)\b/u;

/** `4 March 2026 (yesterday)` for a date that is relative to that of its passage; other dates as they are. */
export function absoluteDate(text: string, said: Said): string {
  // `the summer` of `in the summer`, `2025` of `3 de agosto de 2025`
  const date = datesOf(said).find((one) => one.text.includes(text)) ?? datesOf(said, text)[0];
  if (date?.isRelative === false && date.text !== text) return date.text;
  return date?.isRelative === true ? `${spanText(date)} (${text.charAt(0).toLowerCase()}${text.slice(1)})` : text;
}

export function spanText({ precision, name, from, until }: TimeSpan): string {
  if (precision === 'year' || precision === 'month') return dateText(from);
  if (precision === 'day') return dayText(from);
  if (precision !== 'span') return name;
  const isWhole = from.getUTCDate() === 1 && until.getUTCDate() === 1;
  const textOf = isWhole ? dateText : dayText;
  const last = new Date(until.getTime() - 1);
  return `${textOf(from)} to ${textOf(isWhole ? new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth())) : last)}`;
}

function dayText(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}
