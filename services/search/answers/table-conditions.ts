import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { compares, isFlag, isNumeric, numberOf } from './table-cells.ts';
import { columnStems, FIELDS } from './table-columns.ts';
import { columnOfOrder } from './table-orders.ts';
import type { Row, Table } from './table-rows.ts';
import { readTime, rowsInTime } from './table-times.ts';

const BOUND =
  /(?:\b(?:costs?|costing|that|which|is|are|of|exceeds?|exceeding)\s+)?\b(more than|over|above|at least|exceed(?:s|ing)?|fewer than|less than|under|below|at most|mehr als|über|unter|weniger als|mindestens|höchstens|más de|menos de)\s+((?:[$€£]\s?|EUR\s|USD\s)?\d[\d.,]*\d|\d)\s?(?:€|[$£]|%|EUR\b|USD\b|GBP\b|euros?\b|dollars?\b|pounds?\b|pieces\b|units\b|stück\b)?/iu;
const ENGLISH_BOUNDS: Readonly<Record<string, string>> = {
  'mehr als': 'more than',
  über: 'over',
  'más de': 'more than',
  unter: 'under',
  'weniger als': 'less than',
  'menos de': 'less than',
  mindestens: 'at least',
  höchstens: 'at most',
  exceeds: 'over',
  exceed: 'over',
  exceeding: 'over',
};
const WITHOUT =
  /\b(?:no|nobody|no one|not|without(?: an?y?)?|missing(?: an?)?|lacks?(?: an?)?|kein\p{L}*|ohne|sin)\s+(\p{L}[\p{L}-]*)(?:\s(address|number|date))?/iu;

const OUT_OF_STOCK =
  /\b(?:out of stock|sold out|not (?:in stock|available)|nicht (?:auf lager|vorrätig|lieferbar)|ausverkauft|agotad[oa]s?)\b/iu;
const IN_STOCK = /\b(?:in stock|auf lager|vorrätig)\b/iu;
const STOCK_COLUMN = /\b(?:stock|inventory|on hand|available|\p{L}*bestand|existencias)\b/iu;

export interface Conditions {
  readonly rest: string;
  readonly rows: readonly Row[];
  readonly count: number;
  readonly isInTime: boolean;
}

/** Takes missing values, bounds and times out of a question, and leaves the rows that fulfil them. */
export function conditionsOf(question: string, table: Table, now: Date | undefined): Conditions | null {
  let rest = question;
  let rows = table.rows;
  let count = 0;
  const missing = WITHOUT.exec(rest);
  if (missing !== null) {
    const at = columnNamed(missing[0], missing[1] ?? '', table);
    if (at >= 0 && !isFlag(table.rows, at) && !isNumeric(table.rows, at)) {
      rows = rows.filter(({ cells }) => (cells[at] ?? '') === '');
      rest = rest.replace(missing[0], ' ');
      count++;
    }
  }
  const sold = OUT_OF_STOCK.exec(rest);
  const held = sold ?? IN_STOCK.exec(rest);
  const stock = held === null ? -1 : table.columns.findIndex((name) => STOCK_COLUMN.test(name.replaceAll('_', ' ')));
  if (held !== null && stock >= 0 && isNumeric(table.rows, stock)) {
    const isHeld = (cell: string) => cell !== '' && numberOf(cell) > 0 === (sold === null);
    rows = rows.filter(({ cells }) => isHeld(cells[stock] ?? ''));
    rest = rest.replace(held[0], ' ');
    count++;
  }
  const bound = BOUND.exec(rest);
  if (bound !== null) {
    const [whole, words = '', limit = ''] = bound;
    rest = rest.replace(whole, ' ');
    const asked = wordsOf(rest);
    const at = columnOfOrder(
      question,
      table,
      { isMost: true, of: /[€$£]|EUR|USD|euro|dollar|pound/iu.test(whole) ? 'money' : 'number' },
      asked,
    );
    if (at === null) return null;
    const isWithin = ({ cells }: Row) =>
      (cells[at] ?? '') !== '' && compares(cells[at] ?? '', ['', ENGLISH_BOUNDS[words.toLowerCase()] ?? words, limit]);
    rows = rows.filter(isWithin);
    count++;
  }
  const time = bound === null ? readTime(rest, now) : null;
  const timed = time === null || time.isOverdue ? null : rowsInTime({ ...table, rows: table.rows }, time);
  if (time !== null && !time.isOverdue && timed === null) return null;
  if (timed !== null && time !== null) {
    rows = rows.filter((row) => timed.rows.includes(row));
    rest = time.bare;
    count++;
  }
  return { rest, rows, count, isInTime: timed !== null };
}

/** Beginnings of this length are of one word: `assigned`, `assignee`. */
const ROOT = 5;

export function columnNamed(words: string, noun: string, { columns }: Table): number {
  const stem = stemOf(noun.toLowerCase());
  const byName = columns.findIndex((name) => columnStems(name).has(stem));
  if (byName >= 0) return byName;
  const isOfRoot = (other: string) => stem.length >= ROOT && other.slice(0, ROOT) === stem.slice(0, ROOT);
  const byRoot = columns.findIndex((name) => [...columnStems(name)].some(isOfRoot));
  if (byRoot >= 0) return byRoot;
  const field = FIELDS.find(([asks]) => asks.test(words));
  return field === undefined ? -1 : columns.findIndex((name) => field[1].test(name));
}
