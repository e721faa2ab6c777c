import { ALL_MONTHS, oneOf, SEASONS, WEEKDAYS } from './calendar-words.ts';
import { relativeDates } from './relative-dates.ts';
import { type DateMention, dayOf, monthSpan, seasonSpan, secondOf, type TimeSpan, yearSpan } from './time-span.ts';

const MONTH = `(${oneOf(ALL_MONTHS)})\\.?`;
const YEAR = '(1\\d{3}|20\\d\\d)';
const EDGE = '(?<![\\p{L}\\p{N}.,/$€£#-])';

interface Pattern {
  readonly expression: RegExp;
  read(match: RegExpMatchArray): TimeSpan | null;
}

const ABSOLUTE: readonly Pattern[] = [
  {
    expression: new RegExp(`${EDGE}${YEAR}-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d))?)?`, 'giu'),
    read: (match) => {
      const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? Number.NaN));
      if (hour === undefined || Number.isNaN(hour)) return dayOf(year, month, day);
      return secondOf([year, month, day, hour, minute, second || 0].map(Number));
    },
  },
  {
    expression: new RegExp(`${EDGE}${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? ${YEAR}(?!\\d)`, 'giu'),
    read: (match) => dayOf(Number(match[3]), monthOf(match[1]), Number(match[2])),
  },
  {
    expression: new RegExp(
      `${EDGE}(\\d{1,2})(?:st|nd|rd|th|er|\\.)?(?: of| de)? ${MONTH},?(?: del?)? ${YEAR}(?!\\d)`,
      'giu',
    ),
    read: (match) => dayOf(Number(match[3]), monthOf(match[2]), Number(match[1])),
  },
  {
    expression: new RegExp(`${EDGE}(\\d{1,2})([/.])(\\d{1,2})\\2${YEAR}(?!\\d)`, 'giu'),
    read: (match) => {
      const first = Number(match[1]);
      const second = Number(match[3]);
      const isDayFirst = match[2] === '.' || first > 12;
      return dayOf(Number(match[4]), isDayFirst ? second : first, isDayFirst ? first : second);
    },
  },
  {
    expression: new RegExp(`${EDGE}${MONTH}(?: of| del?)?,? ${YEAR}(?!\\d)`, 'giu'),
    // `Mars 2020` is no month.
    read: (match) => (match[1] === 'Mars' ? null : monthSpan(Number(match[2]), monthOf(match[1]))),
  },
  {
    expression: new RegExp(`${EDGE}(${oneOf(SEASONS)})(?: of| del?)?,? ${YEAR}(?![\\d/–-])`, 'giu'),
    read: (match) => seasonSpan(Number(match[2]), SEASONS.get((match[1] ?? '').toLowerCase()) ?? 0),
  },
  {
    expression: new RegExp(`${EDGE}${YEAR} ?(?:[–—-]|to|and|until|through) ?(\\d{4}|\\d\\d)(?![\\p{L}\\d])`, 'giu'),
    read: (match) => {
      const first = Number(match[1]);
      const last = match[2]?.length === 2 ? Math.floor(first / 100) * 100 + Number(match[2]) : Number(match[2]);
      return last > first && last < 2200 ? yearSpan(first, last, 'span') : null;
    },
  },
  {
    expression: new RegExp(`${EDGE}${YEAR}['’]?s(?!\\p{L})`, 'giu'),
    read: (match) => {
      const first = Number(match[1]);
      if (first % 10 !== 0) return null;
      return first % 100 === 0 ? yearSpan(first, first + 99, 'century') : yearSpan(first, first + 9, 'decade');
    },
  },
  {
    expression: /(?<![\p{L}\p{N}])(\d{1,2})(?:st|nd|rd|th)[ -]centur(?:y|ies)/giu,
    read: (match) => {
      const century = Number(match[1]);
      return century > 0 && century < 22 ? yearSpan((century - 1) * 100 + 1, century * 100, 'century') : null;
    },
  },
  {
    expression: new RegExp(
      `${EDGE}${YEAR}(?![\\p{L}\\d%/]|[.,-]\\d| (?:people|inhabitants|metres|meters|miles|feet|km|kg|tons|tonnes|years|days|men|students|votes|copies|points|acres|dollars))`,
      'giu',
    ),
    read: (match) => yearSpan(Number(match[1]), Number(match[1]), 'year'),
  },
];

/** Years below this need a preposition: `1200 men` is a number, `in 1200` a year. */
const FIRST_PLAIN_YEAR = 1500;
const YEAR_CONTEXT =
  /(?:\b(?:in|since|by|until|till|from|of|before|after|around|circa|year|about|early|late|to)|[(,–-]|c\.) ?$/iu;

/** Returns the dates of a text in order, without overlaps. Relative dates only with `anchor`, the time of writing. */
export function dates(text: string, anchor?: Date): DateMention[] {
  const taken = new Uint8Array(text.length);
  const found = /\d/u.test(text) ? absoluteDates(text, taken) : [];
  if (anchor === undefined) return found;
  const relative = relativeDates(text, anchor, taken);
  if (relative.length === 0) return found;
  const all = [...found, ...relative].sort((left, right) => left.start - right.start);
  return all.filter((mention, at) => !isWeekdayOf(mention, all[at + 1], text));
}

/** Whether a weekday only names the day that is written behind it: `Monday, 16 November`. */
function isWeekdayOf({ text: word, end }: DateMention, next: DateMention | undefined, text: string): boolean {
  return (
    next?.precision === 'day' &&
    WEEKDAYS.has(word.toLowerCase()) &&
    /^,? (?:(?:the|den|dem) )?$/u.test(text.slice(end, next.start))
  );
}

/** `taken`: by character, as comparing every date with every other would cost the square of a list of years. */
function absoluteDates(text: string, taken: Uint8Array): DateMention[] {
  const found: DateMention[] = [];
  for (const pattern of ABSOLUTE) {
    for (const match of text.matchAll(pattern.expression)) {
      const start = match.index;
      const end = start + match[0].length;
      if (taken.subarray(start, end).includes(1)) continue;
      const value = pattern.read(match);
      if (value === null || (value.precision === 'year' && !isYear(text, start, value.name))) continue;
      taken.fill(1, start, end);
      found.push({ text: match[0], start, end, isRelative: false, ...value });
    }
  }
  return found.sort((left, right) => left.start - right.start);
}

function isYear(text: string, start: number, name: string): boolean {
  return Number(name) >= FIRST_PLAIN_YEAR || YEAR_CONTEXT.test(text.slice(Math.max(0, start - 8), start));
}

function monthOf(name: string | undefined): number {
  const lower = (name ?? '').toLowerCase();
  return ALL_MONTHS.get(lower) ?? 0;
}
