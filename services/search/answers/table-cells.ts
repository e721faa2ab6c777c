import { dates } from '../../common/text/language/dates.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { MONTHS } from './spans.ts';

interface Row {
  readonly cells: readonly string[];
}

export function cellsAt(rows: readonly Row[], at: number): readonly string[] {
  return rows.map((row) => row.cells[at] ?? '').filter((cell) => cell !== '');
}

export function valuesOf(rows: readonly Row[], at: number): readonly string[] {
  return [...new Set(cellsAt(rows, at))];
}

/** The unit behind all numbers; '' when they have none or several. */
export function unitOf(cells: readonly string[]): string {
  const [unit = '', ...others] = new Set(cells.map((cell) => /\s?(?:\p{L}+|[%$€£])$/u.exec(cell)?.[0] ?? ''));
  return others.length === 0 ? unit : '';
}

export function hasAll({ cells }: Row, wanted: readonly string[]): boolean {
  const words = new Set(cells.flatMap((cell) => [...stems(cell)]));
  return wanted.every((stem) => words.has(stem));
}

/** Stems of the words of a cell, also of the parts of `slow-bookings`, and `2.4.0` as a whole; of a date also its year and the name of its month. */
export function stems(text = ''): ReadonlySet<string> {
  const [, year = '', month] = ISO_DATE.exec(text) ?? [];
  const dated = month === undefined ? [] : [year, MONTH_NAMES[Number(month) - 1] ?? ''];
  const words = wordsOf(text.replaceAll('_', ' '));
  const parts = words.flatMap((word) => (/^\p{L}+(?:-\p{L}+)+$/u.test(word) ? word.split('-') : []));
  return new Set([...words, ...parts, ...dated, ...(text.match(/\d+(?:\.[\p{L}\d]+)+/gu) ?? [])].map(stemOf));
}

/** Whether a question has a whole cell of several words: `off track`. */
export const isNamedIn = (question: string, cell: string): boolean =>
  wordsOf(cell).length > 1 && ` ${wordsOf(question).join(' ')} `.includes(` ${wordsOf(cell).join(' ')} `);

export function dayOfCell(cell: string): Date | undefined {
  const [, year, month = '01', day = '01'] = ISO_DATE.exec(cell) ?? [];
  return year === undefined ? dates(cell)[0]?.from : new Date(`${year}-${month}-${day}`);
}

const ISO_DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ].*)?$/u;
export const MONTH_NAMES = MONTHS.toLowerCase().split('|');

const DATE = new RegExp(
  `^(?:(?:1[5-9]|20)\\d\\d|\\d{4}(?:-\\d\\d){1,2})(?:[ T]\\d\\d:\\d\\d.*)?$|^\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}$|^\\d{1,2}\\.? (?:${MONTHS})(?: \\d{4})?$|^(?:${MONTHS}) \\d{1,2}(?:, \\d{4})?$`,
  'iu',
);
/** `1,450`, `412.60`, `1.149,00 €`, `EUR 12`: marks of thousands and decimals are of either custom. */
const NUMBER =
  /^(?:[$€£]|(?:EUR|USD|GBP|CHF) )?\s?[-−]?(?:\d{1,3}(?:[,.'\u00a0]\d{3})+(?:[.,]\d{1,2})?|\d[\d,]*(?:\.\d+)?)\s?(?:%|\p{L}{1,4}|[$€£])?$/u;

export function isDated(rows: readonly Row[], at: number): boolean {
  return rows.every(({ cells: { [at]: cell = '' } }) => cell === '' || DATE.test(cell));
}

export function isNumeric(rows: readonly Row[], at: number): boolean {
  return !isDated(rows, at) && rows.every(({ cells: { [at]: cell = '' } }) => cell === '' || NUMBER.test(cell));
}

const YES = /^(?:yes|y|true|x|✓|✔|ja|sí|oui)$/iu;
const NO = /^(?:no|n|false|-|✗|✘|nein|non)?$/iu;

/** Whether a column says yes or no of each row. */
export function isFlag(rows: readonly Row[], at: number): boolean {
  const cells = rows.map((row) => row.cells[at] ?? '');
  return cells.some((cell) => YES.test(cell)) && cells.every((cell) => YES.test(cell) || NO.test(cell));
}

export const flagOf = ({ cells }: Row, at: number): boolean => YES.test(cells[at] ?? '');

/** Whole years from a day to another. */
export function yearsBetween(day: Date, now: Date): number {
  const years = now.getUTCFullYear() - day.getUTCFullYear();
  const isBefore = now.getUTCMonth() - day.getUTCMonth() || now.getUTCDate() - day.getUTCDate();
  return isBefore < 0 ? years - 1 : years;
}

/** Reads a number; the last mark before one or two digits is of decimals, or before any number of them when it is the only point. */
export function numberOf(text: string): number {
  const digits = text.replace(/[^\d.,-]/gu, '').replace(/[.,]$/u, '');
  const isCommaDecimal =
    /^-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}$/u.test(digits) || /^-?\d{1,3}(?:\.\d{3}){2,}$/u.test(digits);
  return Number.parseFloat(isCommaDecimal ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', ''));
}

const YEAR = /^\d{4}$/u;
/** Whether a cell is a date; years alone are compared as the numbers that they may be. */
const isDay = (cell: string): boolean => DATE.test(cell) && !YEAR.test(cell);

export function order(left: string, right: string): number {
  if (!isDay(left) && !isDay(right)) return numberOf(left) - numberOf(right);
  return (dayOfCell(left)?.getTime() ?? 0) - (dayOfCell(right)?.getTime() ?? 0) || left.localeCompare(right);
}

export function compares(cell: string, [, words = '', limit = '']: readonly string[]): boolean {
  const isDate = isDay(cell);
  const value = isDate ? cell.localeCompare(limit) : numberOf(cell) - numberOf(limit);
  const isSame = isDate ? cell.startsWith(limit) : value === 0;
  if (/least|since/iu.test(words)) return value >= 0 || isSame;
  if (/at most|until/iu.test(words)) return value <= 0 || isSame;
  return !isSame && (/more|over|above|after/iu.test(words) ? value > 0 : value < 0);
}
