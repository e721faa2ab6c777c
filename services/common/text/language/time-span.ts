type DatePrecision = 'century' | 'decade' | 'year' | 'month' | 'day' | 'second' | 'span';

/** A point or stretch of time, in UTC. */
export interface TimeSpan {
  /** `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS`, or `<start>/<end>` for stretches. */
  readonly name: string;
  readonly precision: DatePrecision;
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
}

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** Year, month, day, hour, minute, second. */
export function secondOf(parts: readonly number[]): TimeSpan | null {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
  if (dayOf(year, month, day) === null || hour > 23 || minute > 59 || second > 59) return null;
  const from = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const name = `${pad(year, 4)}-${pad(month)}-${pad(day)} ${pad(hour)}:${pad(minute)}:${pad(second)}`;
  return { name, precision: 'second', from, until: new Date(from.getTime() + 1000) };
}

/** Null for a date that does not exist, such as 31 February. */
export function dayOf(year = Number.NaN, month = Number.NaN, day = Number.NaN): TimeSpan | null {
  const from = new Date(Date.UTC(year, month - 1, day));
  if (from.getUTCMonth() !== month - 1 || from.getUTCDate() !== day) return null;
  const until = new Date(Date.UTC(year, month - 1, day + 1));
  return { name: `${pad(year, 4)}-${pad(month)}-${pad(day)}`, precision: 'day', from, until };
}

export function monthSpan(year: number, month: number): TimeSpan {
  const from = new Date(Date.UTC(year, month - 1, 1));
  return { name: `${pad(year, 4)}-${pad(month)}`, precision: 'month', from, until: new Date(Date.UTC(year, month, 1)) };
}

export function yearSpan(first: number, last: number, precision: DatePrecision): TimeSpan {
  const from = new Date(0);
  from.setUTCFullYear(first, 0, 1);
  const until = new Date(0);
  until.setUTCFullYear(last + 1, 0, 1);
  const name = first === last ? pad(first, 4) : `${pad(first, 4)}/${pad(last, 4)}`;
  return { name, precision, from, until };
}

/** A season of the north; winter begins in the year. 0 is spring. */
export function seasonSpan(year: number, season: number): TimeSpan {
  const [first, last] = [
    monthSpan(year, 3 + 3 * season),
    monthSpan(season === 3 ? year + 1 : year, season === 3 ? 2 : 5 + 3 * season),
  ];
  return { name: `${first.name}/${last.name}`, precision: 'span', from: first.from, until: last.until };
}

/** The days from one to another, which is exclusive. */
export function stretchOf(from: Date, until: Date): TimeSpan {
  const [first, last] = [from, new Date(until.getTime() - 86_400_000)].map((date) => date.toISOString().slice(0, 10));
  return { name: `${first}/${last}`, precision: 'span', from, until };
}

/** A time that a text names; `text` is verbatim, offsets are those of the source. */
export interface DateMention extends TimeSpan {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Depends on the anchor: `yesterday`, `last week`, `5 March` without a year. */
  readonly isRelative: boolean;
}
