import { placeTable } from '../places/place-table.ts';
import type { StatementValue } from './statement.ts';

/** Result of a comparison. `unclear`: the values may mean the same, or both may be true at once. */
type Comparison = 'same' | 'different' | 'unclear';

/** Compares two values of a property that has one value at a time, across units and spellings. */
export function compareValues(one: StatementValue, other: StatementValue): Comparison {
  if (one.kind === 'quantity' && other.kind === 'quantity') return compareQuantities(one, other);
  if (one.kind === 'date' && other.kind === 'date') return compareDates(one, other);
  if (one.kind === 'code' && other.kind === 'code') return compareCodes(one.code, other.code);
  if (one.kind === 'place' && other.kind === 'place') return comparePlaces(one.parts, other.parts);
  if (one.kind === 'words' && other.kind === 'words') return compareWords(one.words, other.words);
  return 'unclear';
}

/** Returns a key that is equal for equal values, across units and spellings. */
export function valueKey(value: StatementValue): string {
  switch (value.kind) {
    case 'quantity':
      return `quantity ${value.amount.toPrecision(9)} ${value.unit}`;
    case 'date':
      return `date ${value.from} ${value.until}`;
    case 'code':
      return `code ${value.code}`;
    case 'place':
      return `place ${value.parts.join()}`;
    case 'words': {
      const telling = new Set(value.words.filter((word) => !EMPTY_WORDS.has(word)));
      return `words ${telling.size === 0 ? value.words.join(' ') : [...telling].sort().join(' ')}`;
    }
  }
}

type Quantity = Extract<StatementValue, { kind: 'quantity' }>;

/** Prices in two currencies may hold side by side; a rounded number is the number. */
function compareQuantities(one: Quantity, other: Quantity): Comparison {
  if (one.unit !== other.unit) return 'unclear';
  const distance = Math.abs(one.amount - other.amount);
  if (distance <= 1e-9 * Math.max(Math.abs(one.amount), Math.abs(other.amount))) return 'same';
  const coarser = Math.max(one.step, other.step);
  return one.step !== other.step && distance < coarser ? 'unclear' : 'different';
}

type DateValue = Extract<StatementValue, { kind: 'date' }>;

function compareDates(one: DateValue, other: DateValue): Comparison {
  if (one.from === other.from && one.until === other.until) return 'same';
  return one.until <= other.from || other.until <= one.from ? 'different' : 'unclear';
}

const MIN_SHARED_DIGITS = 6;

/** `+49 30 123456` and `030 123456` may be one telephone. */
function compareCodes(one: string, other: string): Comparison {
  if (one === other) return 'same';
  const isNumber = /^\+?\d+$/u.test(one) && /^\+?\d+$/u.test(other);
  const tail = (code: string) => code.replace(/^\+/u, '').slice(-MIN_SHARED_DIGITS);
  return isNumber && tail(one) === tail(other) ? 'unclear' : 'different';
}

/** Company forms, and words that qualify without naming. */
const EMPTY_WORDS = new Set(
  'the a an of and & inc ltd llc gmbh ag corp corporation company co plc group sa bv'.split(' '),
);

/** Words of one within the other (`Google`, `Google Research`), or its initials, may mean the same. */
function compareWords(one: readonly string[], other: readonly string[]): Comparison {
  if (one.join(' ') === other.join(' ')) return 'same';
  const left = new Set(one.filter((word) => !EMPTY_WORDS.has(word)));
  const right = new Set(other.filter((word) => !EMPTY_WORDS.has(word)));
  if (left.size === 0 || right.size === 0) return 'unclear';
  if (left.isSubsetOf(right) && right.isSubsetOf(left)) return 'same';
  if (left.isSubsetOf(right) || right.isSubsetOf(left)) return 'unclear';
  if (areInitials([...left], [...right]) || areInitials([...right], [...left])) return 'unclear';
  return isMisspelt(one.join(' '), other.join(' ')) ? 'unclear' : 'different';
}

function areInitials(short: readonly string[], long: readonly string[]): boolean {
  const [only] = short;
  return short.length === 1 && long.length > 1 && only === long.map((word) => word.charAt(0)).join('');
}

/** One letter more, less or other in a word of six letters at least. */
function isMisspelt(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < 6 || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const hasDigit = /\d/u.test(one.slice(start, one.length - end) + other.slice(start, other.length - end));
  return !hasDigit && Math.max(one.length, other.length) - start - end <= 1;
}

/** `Room 12`, `Building B`. */
const NUMBERED =
  /^(?:the )?(room|building|floor|hall|office|shelf|drawer|locker|warehouse|bay|gate) ([\p{L}\p{N}.-]{1,6})$/u;

/** Whether this is a place whose level is known: a country or a large city. */
export function isKnownPlace(name: string): boolean {
  return levelOf(name) !== null;
}

export function isNumberedPlace(name: string): boolean {
  return NUMBERED.test(name);
}

function comparePlaces(one: readonly string[], other: readonly string[]): Comparison {
  if (one.join() === other.join()) return 'same';
  const [left = '', ...leftWider] = one;
  const [right = '', ...rightWider] = other;
  const leftNumber = NUMBERED.exec(left);
  const rightNumber = NUMBERED.exec(right);
  if (leftNumber !== null && rightNumber !== null) {
    const isSameKind = leftNumber[1] === rightNumber[1] && leftWider.join() === rightWider.join();
    return isSameKind && leftNumber[2] !== rightNumber[2] ? 'different' : 'unclear';
  }
  if (left === right) return areApart(leftWider.at(-1), rightWider.at(-1)) ? 'different' : 'unclear';
  if (one.includes(right) || other.includes(left)) return 'unclear';
  if (areApart(left, right)) return 'different';
  return areApart(leftWider.at(-1), rightWider.at(-1)) ? 'different' : 'unclear';
}

/** Two countries or two cities that do not lie in each other. Everything else may be one within the other: a quarter and its city. */
function areApart(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return false;
  const level = levelOf(one);
  if (level === null || level !== levelOf(other)) return false;
  const { areSame, liesIn } = placeTable();
  return !areSame(one, other) && !liesIn(one, other) && !liesIn(other, one);
}

function levelOf(name: string): 'country' | 'city' | null {
  const levels = placeTable().levels(name);
  return (['country', 'city'] as const).find((level) => levels.includes(level)) ?? null;
}
