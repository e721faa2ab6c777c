import { createRequire } from 'node:module';
import type * as chrono from 'chrono-node';
import { type DateMention, dayOf, monthSpan, type TimeSpan, yearSpan } from './time-span.ts';

/**
 * Cheap test before the date parser is loaded (0.1 s, once) and run (about 0.1 ms per sentence): only expressions that
 * depend on the time of writing, or that count from another date.
 */
const MAY_BE_RELATIVE =
  /\b(?:today|tonight|yesterday|tomorrow|ago|(?:last|past|previous|this|next|coming)\s+(?:\w+\s+)?(?:night|morning|afternoon|evening|day|week|weekend|fortnight|month|quarter|year|decade|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)s?|(?:on|since|by|until|before|after)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day|in\s+(?:an?|\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?:minute|hour|day|week|month|year)s?|(?:days?|weeks?|months?|years?)\s+(?:after|before|later|earlier)|\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:january|february|march|april|may|june|july|august|september|october|november|december)|(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d{1,2}(?!\d))\b/iu;
const PERIOD =
  /\b(?:(last|past|previous|this|current|next|coming)\s+)(?:(\d+|two|three|four|five|six|few)\s+)?(week|month|year|decade)s?\b/giu;
const COUNTS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({ two: 2, three: 3, four: 4, five: 5, six: 6, few: 3 }),
);
const DAY_MS = 86_400_000;

const require = createRequire(import.meta.url);

/** Characters that are read: relative dates occur in questions, and each expression takes a millisecond. */
const MAX_READ = 600;

/** Returns the dates that are relative to the time of writing, in UTC. */
export function relativeDates(source: string, anchor: Date): DateMention[] {
  const text = source.slice(0, MAX_READ);
  if (!MAY_BE_RELATIVE.test(text)) return [];
  const found = periods(text, anchor);
  const parser = require('chrono-node') as typeof chrono;
  for (const result of parser.parse(text, { instant: anchor, timezone: 0 })) {
    const start = result.index;
    const end = start + result.text.length;
    if (found.some((other) => other.start < end && start < other.end)) continue;
    const span = spanOf(result);
    if (span !== null && isWithinCalendar(span))
      found.push({ text: result.text, start, end, isRelative: true, ...span });
  }
  return found;
}

function spanOf(result: chrono.ParsedResult): TimeSpan | null {
  const first = momentOf(result.start);
  if (first === null || result.end == null) return first;
  const last = momentOf(result.end);
  if (last === null || last.until <= first.from) return first;
  return { name: `${first.name}/${last.name}`, precision: 'span', from: first.from, until: last.until };
}

function momentOf(parsed: chrono.ParsedComponents): TimeSpan | null {
  const year = parsed.get('year') ?? Number.NaN;
  const month = parsed.get('month') ?? Number.NaN;
  const isDayKnown = parsed.isCertain('day') || parsed.isCertain('weekday') || parsed.isCertain('hour');
  if (isDayKnown) return dayOf(year, month, parsed.get('day') ?? Number.NaN);
  if (parsed.isCertain('month')) return monthSpan(year, month);
  if (parsed.isCertain('year')) return yearSpan(year, year, 'year');
  return dayOf(year, month, parsed.get('day') ?? Number.NaN);
}

/** Calendar periods: `last week` is Monday to Sunday before this one, `last 3 months` ends today. */
function periods(text: string, anchor: Date): DateMention[] {
  const found: DateMention[] = [];
  for (const match of text.matchAll(PERIOD)) {
    const [whole, side = '', count, unit = ''] = match;
    const start = match.index;
    const isBack = /^(?:last|past|previous)$/iu.test(side);
    const isNow = /^(?:this|current)$/iu.test(side);
    const size = count === undefined ? undefined : (COUNTS.get(count.toLowerCase()) ?? Number(count));
    const span =
      size === undefined
        ? calendarPeriod(unit.toLowerCase(), isNow ? 0 : isBack ? -1 : 1, anchor)
        : countedPeriod(unit.toLowerCase(), isBack ? -size : size, anchor);
    found.push({ text: whole, start, end: start + whole.length, isRelative: true, ...span });
  }
  return found;
}

function calendarPeriod(unit: string, shift: number, anchor: Date): TimeSpan {
  const year = anchor.getUTCFullYear();
  if (unit === 'year') return yearSpan(year + shift, year + shift, 'year');
  if (unit === 'decade') {
    const first = Math.floor(year / 10) * 10 + shift * 10;
    return yearSpan(first, first + 9, 'decade');
  }
  if (unit === 'month') {
    const date = new Date(Date.UTC(year, anchor.getUTCMonth() + shift, 1));
    return monthSpan(date.getUTCFullYear(), date.getUTCMonth() + 1);
  }
  const sinceMonday = (anchor.getUTCDay() + 6) % 7;
  const monday = midnight(anchor).getTime() + (shift * 7 - sinceMonday) * DAY_MS;
  return stretch(new Date(monday), new Date(monday + 7 * DAY_MS));
}

function countedPeriod(unit: string, size: number, anchor: Date): TimeSpan {
  const today = midnight(anchor);
  const other = new Date(today);
  if (unit === 'week') other.setUTCDate(other.getUTCDate() + size * 7);
  if (unit === 'month') other.setUTCMonth(other.getUTCMonth() + size);
  if (unit === 'year') other.setUTCFullYear(other.getUTCFullYear() + size);
  if (unit === 'decade') other.setUTCFullYear(other.getUTCFullYear() + size * 10);
  const tomorrow = new Date(today.getTime() + DAY_MS);
  return size < 0
    ? stretch(isBetween(other, FIRST_DAY, today) ? other : FIRST_DAY, tomorrow)
    : stretch(today, isBetween(other, today, LAST_DAY) ? other : LAST_DAY);
}

/** Years of four digits: `the last 99999999999 years` begin with the first of them. */
const FIRST_DAY = new Date('0000-01-01T00:00:00Z');
const LAST_DAY = new Date('9999-12-31T00:00:00Z');

/** False for a date that cannot be represented. */
function isBetween(date: Date, first: Date, last: Date): boolean {
  return date >= first && date <= last;
}

function isWithinCalendar({ from, until }: TimeSpan): boolean {
  return isBetween(from, FIRST_DAY, LAST_DAY) && isBetween(until, FIRST_DAY, LAST_DAY);
}

function midnight(date: Date): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()));
}

function stretch(from: Date, until: Date): TimeSpan {
  const last = new Date(until.getTime() - DAY_MS);
  return {
    name: `${from.toISOString().slice(0, 10)}/${last.toISOString().slice(0, 10)}`,
    precision: 'span',
    from,
    until,
  };
}
