/** A cron schedule in UTC. */
export interface Cron {
  /** Returns the first minute after `time` that matches; null when none does within thirty years. */
  nextAfter(time: Date): Date | null;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the numbers, the first one for `from`. */
  readonly words?: readonly string[];
}

const MINUTE: Field = { name: 'minute', from: 0, to: 59 };
const HOUR: Field = { name: 'hour', from: 0, to: 23 };
const DAY: Field = { name: 'day of month', from: 1, to: 31 };
const MONTH: Field = { name: 'month', from: 1, to: 12, words: MONTHS };
/** Both 0 and 7 are Sunday. */
const WEEKDAY: Field = { name: 'day of week', from: 0, to: 7, words: DAYS };

const FOREVER_YEARS = 30;

/**
 * Parses five fields: minute, hour, day of month, month, day of week. Each is `*`, a number or name (`MON`, `JAN`), a range
 * `a-b`, any of them with a step `/n`, or a list of these. When both days are restricted, one match is enough. Returns a
 * sentence about the first fault of an invalid schedule. Not the library croner: it rejects `5/20`, treats a step of days as
 * a restriction, which Vixie cron does not, and accepts dates, nicknames and a sixth field.
 */
export function parseCron(text: string): Cron | { readonly fault: string } {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) return { fault: `it has ${parts.length} fields, cron has five` };
  const fields = [MINUTE, HOUR, DAY, MONTH, WEEKDAY].map((field, at) => parseField(field, parts[at] ?? ''));
  const fault = fields.find((field) => typeof field === 'string');
  if (typeof fault === 'string') return { fault };
  const [minutes, hours, days, months, weekdays] = fields as ReadonlySet<number>[];
  if (!minutes || !hours || !days || !months || !weekdays) return { fault: 'it cannot be read' };
  const either = !isEverything(parts[2]) && !isEverything(parts[4]);
  const matchesDay = (time: Date): boolean => {
    const [byDay, byWeekday] = [days.has(time.getUTCDate()), weekdays.has(time.getUTCDay())];
    return either ? byDay || byWeekday : byDay && byWeekday;
  };
  const cron = { nextAfter: (time: Date) => search(time, { minutes, hours, months, matchesDay }) };
  // For example 31 February.
  return cron.nextAfter(new Date('2000-01-01T00:00:00Z')) === null ? { fault: 'no day is ever like that' } : cron;
}

/** Whether the field does not restrict the day: `*`, also with a step. */
function isEverything(part: string | undefined): boolean {
  return part?.startsWith('*') === true;
}

function parseField(field: Field, text: string): ReadonlySet<number> | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\*|([^-/]+)(?:-([^-/]+))?)(?:\/(\d+))?$/.exec(part);
    if (match === null) return `"${part}" is not a valid ${field.name}`;
    const [, range = '', first = '', last, stepText] = match;
    const step = stepText === undefined ? 1 : Number(stepText);
    const from = range === '*' ? field.from : numberOf(field, first);
    // `5/10` means `5-59/10`.
    const to =
      range === '*' || (last === undefined && stepText !== undefined) ? field.to : numberOf(field, last ?? first);
    if (from === null || to === null || step < 1) return `"${part}" is not a valid ${field.name}`;
    if (from > to) return `"${part}" ends before it begins`;
    for (let value = from; value <= to; value += step) values.add(field === WEEKDAY ? value % 7 : value);
  }
  return values;
}

function numberOf({ from, to, words = [] }: Field, text: string): number | null {
  const word = words.indexOf(text.toUpperCase());
  if (word >= 0) return word + from;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : null;
}

interface Matchers {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  matchesDay(time: Date): boolean;
}

/** Advances by the largest unit that does not match, from the first whole minute after `start`. */
function search(start: Date, { minutes, hours, months, matchesDay }: Matchers): Date | null {
  let at = new Date(Math.floor(start.getTime() / 60_000) * 60_000 + 60_000);
  const lastYear = at.getUTCFullYear() + FOREVER_YEARS;
  while (at.getUTCFullYear() <= lastYear) {
    const [year, month, day, hour] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()];
    if (!months.has(month + 1)) at = new Date(Date.UTC(year, month + 1, 1));
    else if (!matchesDay(at)) at = new Date(Date.UTC(year, month, day + 1));
    else if (!hours.has(hour)) at = new Date(Date.UTC(year, month, day, hour + 1));
    else if (!minutes.has(at.getUTCMinutes())) at = new Date(at.getTime() + 60_000);
    else return at;
  }
  return null;
}
