import { ALL_MONTHS, COUNTS, DAY_WORDS, MONTHS, oneOf, SEASONS, UNITS, type Unit, WEEKDAYS } from './calendar-words.ts';
import { type DateMention, dayOf, monthSpan, seasonSpan, stretchOf, type TimeSpan, yearSpan } from './time-span.ts';

/** Which one of several: the last before the time of writing, the one at it, or the next. */
type Side = -1 | 0 | 1;

interface Reading {
  /** Midnight of the day of writing. */
  readonly today: Date;
  /** The sentence before and behind the expression tells of what is to come. */
  readonly isAhead: () => boolean;
}

interface Pattern {
  readonly expression: RegExp;
  read(groups: Readonly<Record<string, string | undefined>>, reading: Reading): TimeSpan | null;
}

const BACK = 'last|past|previous|(?:letzt|vorig|vergangen)e[nmrs]?|pasad[oa]s?|últim[oa]s?|derni(?:er|ère)s?|passée?s?';
const HERE = 'this|current|diese[nmrs]?|est[ea]s?|ce|cet|cette|ces';
const AHEAD = 'next|coming|(?:nächst|kommend)e[nmrs]?|que viene|próxim[oa]s?|prochaine?s?';
const SIDE = `(?<side>${BACK}|${HERE}|${AHEAD})`;
const COUNT = `(?<count>\\d{1,12}|${oneOf(COUNTS)})`;
const UNIT = `(?<unit>${oneOf(UNITS)})`;
const MONTH = `(?<month>${oneOf(MONTHS)})`;
/** The full stop behind `12 Nov` is that of the sentence at its end. */
const MONTH_OF_DAY = `(?<month>${oneOf(ALL_MONTHS)})(?:\\.(?= ))?`;
const NAMED = `(?:${UNIT}|(?<weekday>${oneOf(WEEKDAYS)})|${MONTH}|(?<season>${oneOf(SEASONS)})|(?<part>night|morning|afternoon|evening))`;
const NO_YEAR = '(?![ ,]{0,2}(?:de[l]? )?(?:1\\d|20)\\d\\d)';
/** Before a month, a season or a day without a year. */
const BY =
  "(?:in|on|by|since|from|until|till|before|after|during|early|late|mid|im|am|seit|ab|bis|vor|nach|anfang|mitte|ende|en|el|desde|hasta|antes de|después de|depuis|avant|après|au|à l[’']?|le|jusqu[’']en|fin|début)";
const patterned = (source: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, 'gu');

/** In the order of precedence. */
const PATTERNS: readonly Pattern[] = [
  { expression: patterned(`(?<word>${oneOf(DAY_WORDS)})`), read: ({ word }, reading) => dayWord(word, reading) },
  {
    expression: patterned(`${COUNT} ${UNIT} ago`),
    read: ({ count, unit }, { today }) => counted(countOf(count), unitOf(unit), -1, today),
  },
  {
    expression: patterned(`(?:vor|hace|il y a) ${COUNT} ${UNIT}`),
    read: ({ count, unit }, { today }) => counted(countOf(count), unitOf(unit), -1, today),
  },
  {
    expression: patterned(`(?:in|dentro de|dans) ${COUNT} ${UNIT}`),
    read: ({ count, unit }, { today }) => counted(countOf(count), unitOf(unit), 1, today),
  },
  {
    expression: patterned(
      `${SIDE} ${COUNT} ${UNIT}|${COUNT.replace('count', 'number')} ${SIDE.replace('side', 'which')} ${UNIT.replace('unit', 'what')}`,
    ),
    read: ({ side, which, count, number, unit, what }, { today }) =>
      periodOf(countOf(count ?? number), unitOf(unit ?? what), sideOf(side ?? which ?? ''), today),
  },
  { expression: patterned(`${SIDE} ${NAMED}`), read: named },
  { expression: patterned(`(?:l[’'])?${NAMED} ${SIDE}`), read: named },
  {
    expression: patterned(`(?<day>\\d{1,2})(?:st|nd|rd|th|er|\\.)? (?:of |de )?${MONTH_OF_DAY}${NO_YEAR}`),
    read: dayInYear,
  },
  { expression: patterned(`${MONTH_OF_DAY} (?<day>\\d{1,2})(?:st|nd|rd|th)?${NO_YEAR}`), read: dayInYear },
  {
    expression: patterned(`(?<weekday>${oneOf(WEEKDAYS)}),? (?:the |den )?(?<day>\\d{1,2})(?:st|nd|rd|th|\\.)`),
    read: ({ weekday, day }, { today }) => nearestDay(weekday ?? '', Number(day), today),
  },
  {
    expression: patterned(`(?<=(?<![\\p{L}\\p{N}])${BY} )(?<weekday>${oneOf(WEEKDAYS)})`),
    read: ({ weekday }, { today, isAhead }) => weekdayOf(weekday ?? '', isAhead() ? 1 : -1, today, isAhead() ? 1 : 0),
  },
  {
    expression: patterned(`(?<=(?<![\\p{L}\\p{N}])${BY} (?:the )?)(?:${MONTH}|(?<season>${oneOf(SEASONS)}))${NO_YEAR}`),
    read: (groups, reading) => cyclic(groups, reading.isAhead() ? 1 : -1, reading.today, true),
  },
];

/** Cheap test before the patterns are run: words of which each of them needs one. */
const MAY_BE_RELATIVE = new RegExp(
  `(?<!\\p{L})(?:${[DAY_WORDS, UNITS, WEEKDAYS, ALL_MONTHS, SEASONS].map(oneOf).join('|')}|night|morning|afternoon|evening)(?!\\p{L})`,
  'u',
);
/** Tells of the future, in the sentence around an expression. */
const FUTURE =
  /(?<!\p{L})(?:will|shall|let['’]?s|how about|what about|why don['’]t|going to|plan(?:s|ned|ning)?|scheduled|due|upcoming|(?:moved|postponed|rescheduled|pushed|put off|shifted|delayed)(?: back| forward)? (?:to|until|till)|wird|werden?|wollen|will|möchten?|voy a|vamos a|van? a|vais|allons|va|vont|\p{L}{3,}(?:ré|remos|rán|rai|rons|ront))(?!\p{L})|[’']ll\b/u;
/** Tells that `in two weeks` is how long something took, not when it is. */
const DONE =
  /(?<!\p{L})(?:\p{L}{2,}ed|was|were|did|had|took|won|ran|built|made|wrote|read|lost|grew|learnt|hat|habe|war|wurde)(?!\p{L})/u;
const DAY_MS = 86_400_000;

/**
 * Returns the dates that depend on the time of writing, in UTC, in the order of the text. A month, season or weekday without
 * more is the last one, in a sentence about the future the next one. `taken`: 1 for characters of other dates.
 */
export function relativeDates(text: string, anchor: Date, taken = new Uint8Array(text.length)): DateMention[] {
  // Without the flag for it, as regular expressions are several times faster then.
  const lower = text.toLowerCase();
  if (lower.length !== text.length || !MAY_BE_RELATIVE.test(lower)) return [];
  const today = new Date(Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate()));
  const found: DateMention[] = [];
  let start = 0;
  for (const { index } of lower.matchAll(SENTENCE_END)) {
    const sentence = lower.slice(start, index);
    if (MAY_BE_RELATIVE.test(sentence)) {
      const read = readSentence({ sentence, start, text, today, taken });
      for (const mention of read) found.push(mention);
    }
    start = index;
  }
  return found;
}

/** Not behind the number of a day: `14. Juli`. */
const SENTENCE_END = /(?<!\d)[.!?](?=\s)|\n|$/gu;

interface Source {
  /** In lower case. */
  readonly sentence: string;
  /** Its offset in `text`. */
  readonly start: number;
  readonly text: string;
  readonly today: Date;
  readonly taken: Uint8Array;
}

function readSentence({ sentence, start: offset, text, today, taken }: Source): readonly DateMention[] {
  const found: DateMention[] = [];
  const isDone = memo(() => DONE.test(sentence));
  const isFrench = memo(() => IN_FRENCH.test(sentence));
  const reading = { today, isAhead: memo(() => FUTURE.test(sentence)) };
  for (const { expression, read } of PATTERNS) {
    for (const match of sentence.matchAll(expression)) {
      const [start, end] = [offset + match.index, offset + match.index + match[0].length];
      if (taken.subarray(start, end).includes(1)) continue;
      const written = text.slice(start, end);
      const before = text.slice(Math.max(offset, start - 8), start);
      const isOther =
        RECURRING.test(before) ||
        (match[0] === 'hier' && !isFrench()) ||
        (match[0] === 'mañana' && /\b(?:la|una|esta|cada) $/iu.test(before)) ||
        (TODAY.has(match[0]) &&
          NOWADAYS.test(sentence.slice(Math.max(0, match.index - NOWADAYS_WITHIN), match.index))) ||
        (written === 'Morgen' && /\p{L} $/u.test(before)) ||
        (match[0].startsWith('in ') && isDone());
      if (isOther) continue;
      const span = read(match.groups ?? {}, reading);
      if (span === null || !isWithinCalendar(span)) continue;
      taken.fill(1, start, end);
      found.push({ text: written, start, end, isRelative: true, ...span });
    }
  }
  return found.sort((left, right) => left.start - right.start);
}

const TODAY = new Set(['today', 'heute', 'hoy', "aujourd'hui", 'aujourd’hui']);
/** Before a day that comes back: it is of no year. */
const RECURRING = /\b(?:every|each|jede[nmrs]?|cada|chaque)\s+$/iu;
/** Characters before `today` that are looked at for words like these. */
const NOWADAYS_WITHIN = 80;
/** Before `today` that means these days. */
const NOWADAYS =
  /(?<!\p{L})(?:still|even|until|is|are|remains?|known|noch|bis|ist|sind|bekannt|todavía|hasta|sigue|es|son|encore|jusqu|est|sont)(?!\p{L})/u;

function memo(test: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => {
    known ??= test();
    return known;
  };
}

const IN_FRENCH =
  /(?<!\p{L})(?:je|nous|il|elle|on|ils|elles|tu|vous|est|était|le|les|des|du|et|à|au|ai|avons)(?!\p{L})|[jldnmstc][’']/u;

function countOf(word = ''): number {
  return COUNTS.get(word) ?? Number(word);
}

function unitOf(word = ''): Unit {
  return UNITS.get(word) ?? 'day';
}

const IS_BACK = new RegExp(`^(?:${BACK})$`, 'u');
const IS_HERE = new RegExp(`^(?:${HERE})$`, 'u');

function sideOf(word: string): Side {
  return IS_BACK.test(word) ? -1 : IS_HERE.test(word) ? 0 : 1;
}

function dayWord(word = '', { today }: Reading): TimeSpan | null {
  return dayAt(today, DAY_WORDS.get(word) ?? 0);
}

function dayAt(today: Date, days: number): TimeSpan | null {
  const date = new Date(today.getTime() + days * DAY_MS);
  return dayOf(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

/** A day for days and weeks, else as exact as the unit: `three years ago` is a year. */
function counted(count: number, unit: Unit, side: Side, today: Date): TimeSpan | null {
  const year = today.getUTCFullYear();
  switch (unit) {
    case 'day':
      return dayAt(today, side * count);
    case 'week':
    case 'weekend':
      return dayAt(today, side * 7 * count);
    case 'fortnight':
      return dayAt(today, side * 14 * count);
    case 'month':
    case 'quarter': {
      const date = new Date(Date.UTC(year, today.getUTCMonth() + side * count * (unit === 'month' ? 1 : 3), 1));
      return monthSpan(date.getUTCFullYear(), date.getUTCMonth() + 1);
    }
    default: {
      const other = year + side * count * (unit === 'year' ? 1 : 10);
      return yearSpan(other, other, 'year');
    }
  }
}

/** `the last 3 months` end today. */
function periodOf(count: number, unit: Unit, side: Side, today: Date): TimeSpan | null {
  if (side === 0) return null;
  const other = new Date(today);
  const size = side * count;
  if (unit === 'month' || unit === 'quarter')
    other.setUTCMonth(other.getUTCMonth() + size * (unit === 'month' ? 1 : 3));
  else if (unit === 'year' || unit === 'decade')
    other.setUTCFullYear(other.getUTCFullYear() + size * (unit === 'year' ? 1 : 10));
  else other.setUTCDate(other.getUTCDate() + size * (unit === 'day' ? 1 : unit === 'fortnight' ? 14 : 7));
  if (side < 0) return stretchOf(other >= FIRST_DAY ? other : FIRST_DAY, new Date(today.getTime() + DAY_MS));
  return stretchOf(today, other <= LAST_DAY ? other : LAST_DAY);
}

/** `last week`, `next Friday`, `this spring`. */
function named(groups: Readonly<Record<string, string | undefined>>, { today }: Reading): TimeSpan | null {
  const side = sideOf(groups['side'] ?? '');
  if (groups['part'] !== undefined) return dayAt(today, side === 0 ? 0 : side);
  if (groups['unit'] !== undefined) return calendarUnit(unitOf(groups['unit']), side, today);
  if (groups['weekday'] !== undefined) return weekdayOf(groups['weekday'], side, today, 1);
  return cyclic(groups, side, today, false);
}

/** `last week` is Monday to Sunday of the week before this one. */
function calendarUnit(unit: Unit, side: Side, today: Date): TimeSpan | null {
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()];
  const months = (first: number, count: number): TimeSpan => {
    const date = new Date(Date.UTC(year, first, 1));
    return count === 1
      ? monthSpan(date.getUTCFullYear(), date.getUTCMonth() + 1)
      : stretchOf(date, new Date(Date.UTC(year, first + count, 1)));
  };
  switch (unit) {
    case 'year':
      return yearSpan(year + side, year + side, 'year');
    case 'decade': {
      const first = Math.floor(year / 10) * 10 + side * 10;
      return yearSpan(first, first + 9, 'decade');
    }
    case 'quarter':
      return months(Math.floor(month / 3) * 3 + side * 3, 3);
    case 'month':
      return months(month + side, 1);
    // `the next day` counts from another one.
    case 'day':
      return null;
    default: {
      const monday = today.getTime() + (side * 7 - weekdayAt(today)) * DAY_MS;
      const first = unit === 'weekend' ? monday + 5 * DAY_MS : monday;
      return stretchOf(new Date(first), new Date(monday + (unit === 'fortnight' ? 14 : 7) * DAY_MS));
    }
  }
}

function weekdayAt(date: Date): number {
  return (date.getUTCDay() + 6) % 7;
}

/** The last or next such day, at least so many days away; of this week on side 0. */
function weekdayOf(word: string, side: Side, today: Date, least: 0 | 1): TimeSpan | null {
  const away = (WEEKDAYS.get(word) ?? 0) - weekdayAt(today);
  if (side === 0) return dayAt(today, away);
  const distance = (side * away + 7) % 7;
  return dayAt(today, side * (distance < least ? distance + 7 : distance));
}

/** `Saturday the 23rd`: of the days of that number which are such a weekday, the nearest one. */
function nearestDay(word: string, day: number, today: Date): TimeSpan | null {
  const from = weekdayAt(today) - (WEEKDAYS.get(word) ?? 0);
  const weeks = Array.from({ length: MAX_WEEKS }, (_, at) => (at % 2 === 0 ? at / 2 : -(at + 1) / 2));
  const days = weeks.map((week) => dayAt(today, 7 * week - from));
  return days.find((one) => one?.from.getUTCDate() === day) ?? null;
}

/** Half a year before and behind, in which every day of a month is on every weekday once. */
const MAX_WEEKS = 104;

/** A month or a season: the last one that is over (or, with `isOpen`, that has begun), the next one, or that of this year. */
function cyclic(
  { month, season }: Readonly<Record<string, string | undefined>>,
  side: Side,
  today: Date,
  isOpen: boolean,
): TimeSpan | null {
  const inYear = (year: number): TimeSpan =>
    season === undefined ? monthSpan(year, MONTHS.get(month ?? '') ?? 1) : seasonSpan(year, SEASONS.get(season) ?? 0);
  const year = today.getUTCFullYear();
  const years = [year - 2, year - 1, year, year + 1].map(inYear);
  if (side === 0) return years.find(({ from, until }) => from <= today && today < until) ?? inYear(year);
  if (side > 0) return years.find(({ from }) => from > today) ?? null;
  return years.findLast(({ from, until }) => (isOpen ? from <= today : until <= today)) ?? null;
}

/** A day longer ago is one to come: `on 14 January`, said in November. */
const MAX_DAYS_BACK = 300;

function dayInYear(groups: Readonly<Record<string, string | undefined>>, { today, isAhead }: Reading): TimeSpan | null {
  const month = ALL_MONTHS.get(groups['month'] ?? '') ?? 1;
  const year = today.getUTCFullYear();
  const days = [year - 1, year, year + 1].flatMap((one) => dayOf(one, month, Number(groups['day'])) ?? []);
  const last = days.findLast(({ from }) => from <= today);
  const isRecent = last !== undefined && today.getTime() - last.from.getTime() <= MAX_DAYS_BACK * DAY_MS;
  const next = days.find(({ from }) => from >= today);
  return (isRecent && !isAhead() ? last : next) ?? last ?? null;
}

/** Years of four digits: `the last 99999999999 years` begin with the first of them. */
const FIRST_DAY = new Date('0000-01-01T00:00:00Z');
const LAST_DAY = new Date('9999-12-31T00:00:00Z');

function isWithinCalendar({ from, until }: TimeSpan): boolean {
  return from >= FIRST_DAY && from <= LAST_DAY && until >= FIRST_DAY && until <= LAST_DAY;
}
