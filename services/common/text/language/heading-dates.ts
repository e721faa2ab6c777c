import { ALL_MONTHS, MONTHS, oneOf, WEEKDAYS } from './calendar-words.ts';
import { dates } from './dates.ts';
import type { DateMention, TimeSpan } from './time-span.ts';

const SHORT_WEEKDAYS = 'mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|mo|di|mi|do|fr|sa|so';
/** Words that leave a heading a date: `Monday, 3 June 2025`, `Im Jahr 2021`. */
const FILLERS = new RegExp(
  `(?<!\\p{L})(?:${oneOf(WEEKDAYS)}|${SHORT_WEEKDAYS}|in|im|en|the|year|jahr|año|année|l[’']année)(?!\\p{L})|[^\\p{L}\\p{N}]`,
  'giu',
);
const MONTH_ALONE = new RegExp(`^(?:${oneOf(MONTHS)})$`, 'iu');
const MAY_BE_DATE = new RegExp(`\\d|(?<!\\p{L})(?:${oneOf(MONTHS)})(?!\\p{L})`, 'iu');
/** Words beside the month that a heading names: `Plans for March 2025`. */
const MAX_WORDS_BESIDE_MONTH = 3;

const MAX_DAY_LINE = 40;
/** Any day: a day without a year is read beside one. */
const SOME_DAY = new Date(Date.UTC(2024, 6, 1));
const NAMES_MONTH = new RegExp(`(?<!\\p{L})(?:${oneOf(ALL_MONTHS)})(?!\\p{L})|\\d{4}`, 'iu');

/** Whether a line says a day and nothing else: `Mon 6 Apr`, `Tuesday, 7 April 2026:`, as above the notes of that day. */
export function isDayLine(line: string): boolean {
  if (line.length > MAX_DAY_LINE || !/\d/u.test(line) || !NAMES_MONTH.test(line)) return false;
  return dayAlone(line, SOME_DAY) !== null;
}

/** Returns the day that is all that a heading says, the one next to a date when it names no year; null for another heading. */
function dayAlone(heading: string, near: Date): TimeSpan | null {
  const [day, ...others] = dates(heading, near).filter(({ text }) => /\d/u.test(text));
  if (day?.precision !== 'day' || others.length > 0) return null;
  const rest = `${heading.slice(0, day.start)} ${heading.slice(day.end)}`.replaceAll(FILLERS, '');
  return rest === '' ? day : null;
}

/**
 * Returns the time that headings give to the text below them, outermost first: a day that a heading names, a month with few
 * words, a year alone. A day or month without a year belongs to the year above it, also to the one that ends a title: `Garden
 * log 2026`; without any, a heading that is nothing but a day means the one next to the time of writing. Null when none is a date.
 */
export function headingTime(headings: readonly string[], writtenAt: Date | null = null): TimeSpan | null {
  let found: TimeSpan | null = null;
  let year: number | null = null;
  for (const heading of headings) {
    if (!MAY_BE_DATE.test(heading)) continue;
    const time: TimeSpan | null =
      timeOf(heading, year) ?? (writtenAt === null || !isDayLine(heading) ? null : dayAlone(heading, writtenAt));
    found = time ?? found;
    year = time?.from.getUTCFullYear() ?? (Number(YEAR_AT_END.exec(heading)?.[0]) || year);
  }
  return found;
}

const YEAR_AT_END = /(?<= )(?:19|20)\d\d$/u;

function timeOf(heading: string, year: number | null): TimeSpan | null {
  const own = dates(heading).find((mention) => isMeant(heading, mention));
  if (own !== undefined || year === null) return own ?? null;
  const bare = heading.replaceAll(FILLERS, ' ').trim();
  if (MONTH_ALONE.test(bare)) return dates(`${bare} ${year}`)[0] ?? null;
  const [day] = dates(heading, new Date(Date.UTC(year, 6, 1)));
  return day?.precision === 'day' && /\d/u.test(day.text) ? day : null;
}

function isMeant(heading: string, { start, end, precision }: DateMention): boolean {
  if (precision === 'day' || precision === 'second') return true;
  const rest = `${heading.slice(0, start)} ${heading.slice(end)}`.replaceAll(FILLERS, ' ').trim();
  const words = rest === '' ? 0 : rest.split(/\s+/u).length;
  return precision === 'month' ? words <= MAX_WORDS_BESIDE_MONTH : words === 0;
}

/**
 * Returns the day from which relative dates below headings count: the day of a heading, else the day of writing when it lies in
 * the time of the headings. Null when it is not known.
 */
export function anchorBelow(time: TimeSpan | null, writtenAt: Date | null): Date | null {
  if (time?.precision === 'day' || time?.precision === 'second') return time.from;
  if (writtenAt === null || time === null) return writtenAt;
  return time.from <= writtenAt && writtenAt < time.until ? writtenAt : null;
}
