import { dates } from '../../common/text/language/dates.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { analyseQuery, type TimeWindow } from '../retrieval/query-analysis.ts';
import { dayOfCell, isDated, MONTH_NAMES, stems } from './table-cells.ts';
import { isIdColumn, questionWords, type ReadWords } from './table-columns.ts';
import type { Row, Table } from './table-rows.ts';

/** A time that chooses rows by their dates, and the question without it. */
export interface AskedTime extends TimeWindow {
  readonly bare: string;
  readonly isOverdue: boolean;
}

const OVERDUE = /\b(?:overdue|past due|überfällig\p{L}*)/iu;
const TIME_PREPOSITION =
  /(?:\b(?:before|prior to|until|till|up to|by|after|since|from|in|on|during|within|at|vor|bis|nach|seit|im|am)\s+(?:the\s+|dem\s+)?)$/iu;
const BOUND = /\b(?:before|prior to|until|till|up to|by|after|since|from|vor|bis|nach|seit)\s+(?:the\s+|dem\s+)?$/iu;
const FUTURE = /\b(?:due|deadlines?|expires?|next|upcoming|will|must|have to|has to|fällig)\b/iu;
const DAY_MS = 86_400_000;

/** Reads the time that a question names; null for a month alone, which any year has. */
export function readTime(question: string, now?: Date): AskedTime | null {
  if (now !== undefined && OVERDUE.test(question)) {
    const until = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
    return { from: null, until, bare: question.replace(OVERDUE, 'due'), isOverdue: true };
  }
  const { timeWindow } = analyseQuery(question, now === undefined ? {} : { now });
  const mention = dates(question, now)[0];
  if (timeWindow === null || mention === undefined || COMPARES_NUMBERS.test(question)) return null;
  const before = question.slice(0, mention.start);
  const isAnyYear = mention.isRelative && mention.precision === 'month' && /^\p{L}+$/u.test(mention.text);
  if (isAnyYear && !BOUND.test(before)) return null;
  const bare = `${before.replace(TIME_PREPOSITION, '')}${question.slice(mention.end)}`;
  const { from, until } = timeWindow;
  const isPast = isAnyYear && from === null && until !== null && now !== undefined && until <= now;
  const end = isPast && FUTURE.test(question) ? new Date(until) : until;
  if (end !== until) end?.setUTCFullYear(end.getUTCFullYear() + 1);
  return { from, until: end, bare, isOverdue: false };
}

const COMPARES_NUMBERS = /\b(?:(?:more|fewer|less) than|over|above|under|below|at least|at most)\s+[$€£]?\d/iu;
const TIME_COLUMN = /^(?:due|deadline|date|day|start|when|month|fällig|datum)\b/iu;
/** Values of what needs nothing more. */
const DONE = /^(?:done|paid|closed|completed?|finished|cancell?ed|resolved|erledigt|bezahlt|✓)$/iu;

/** Columns of when something begins, which lasts until the next row does. */
const BEGINNING =
  /^(?:from|starts?|starting|since|beginning|valid from|week of|von|ab|seit|beginn|desde|inicio|depuis|début)\b/iu;
const MAX_DAYS_ASKED = 7;

/**
 * Returns the rows with a date in a time, and the column that has it; null for a table without dates. A day between the
 * beginnings of two rows is in the first of them. Dates without a year are of that of the heading, or of the time.
 */
export function rowsInTime({ heading, columns, rows }: Table, { from, until, bare, isOverdue }: AskedTime) {
  const dated = columns.flatMap((name, at) =>
    name !== '' && !isIdColumn(name) && isDated(rows, at) ? [{ name, at }] : [],
  );
  const asked = new Set(questionWords(bare).map(({ stem }) => stem));
  const chosen =
    dated.find(({ name }) => [...stems(name)].some((stem) => asked.has(stem))) ??
    dated.find(({ name }) => TIME_COLUMN.test(name)) ??
    dated[0];
  if (chosen === undefined) return null;
  const year = /\b(?:19|20)\d\d\b/u.exec(heading)?.[0] ?? from?.getUTCFullYear();
  const dayOf = ({ cells: { [chosen.at]: cell = '' } }: Row) => dayOfCell(cell) ?? dayOfCell(`${cell} ${year}`);
  const isIn = (day: Date | undefined) =>
    day !== undefined && (from === null || day >= from) && (until === null || day < until);
  const isOpen = ({ cells }: Row) => !isOverdue || !cells.some((cell) => DONE.test(cell));
  const found = rows.filter((row) => isIn(dayOf(row)) && isOpen(row));
  if (found.length > 0 || from === null || until === null || !BEGINNING.test(chosen.name))
    return { rows: found, column: chosen.at };
  const isLong = until.getTime() - from.getTime() > MAX_DAYS_ASKED * DAY_MS;
  const days = rows.map((row) => dayOf(row)?.getTime() ?? Number.NaN);
  const at = days.findIndex((day, place) => day <= from.getTime() && from.getTime() < (days[place + 1] ?? Number.NaN));
  return { rows: isLong || at < 0 ? [] : rows.slice(at, at + 1), column: chosen.at };
}

/** The column of dates whose month a question names. */
export function monthColumn({ rows }: Table, { conditions }: ReadWords): number | null {
  for (const month of MONTH_NAMES) {
    const [column, ...others] = conditions.get(stemOf(month)) ?? [];
    if (column !== undefined && others.length === 0 && isDated(rows, column)) return column;
  }
  return null;
}
