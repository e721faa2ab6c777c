import type { Evaluator, Row } from './environment.ts';
import { asList, integer, toText } from './functions.ts';
import { compare, equals, isList, isNumber, QueryFailure, typeMismatch, type Value } from './values.ts';

export function unary(operator: string, of: Evaluator): Evaluator {
  switch (operator) {
    case 'IS NULL':
      return (row) => of(row) === null;
    case 'IS NOT NULL':
      return (row) => of(row) !== null;
    case 'NOT':
      return (row) => {
        const value = truth(of(row));
        return value === null ? null : !value;
      };
    default: {
      const sign = operator === '-' ? -1 : 1;
      return (row) => {
        const value = of(row);
        if (value === null) return null;
        if (!isNumber(value)) throw typeMismatch('Float or Integer', value);
        return typeof value === 'bigint' ? integer(value * BigInt(sign)) : value * sign;
      };
    }
  }
}

/** A condition: true, false, or null for unknown. */
export function truth(value: Value): boolean | null {
  if (value !== null && typeof value !== 'boolean') throw typeMismatch('Boolean', value);
  return value;
}

type Operator = (left: Value, right: Value) => Value;

export function binary(operator: string, left: Evaluator, right: Evaluator): Evaluator {
  if (operator === 'AND' || operator === 'OR') {
    // One such value decides, whatever the other is.
    const decisive = operator === 'OR';
    return (row) => {
      const first = truth(left(row));
      if (first === decisive) return decisive;
      const second = truth(right(row));
      if (second === decisive) return decisive;
      return first === null || second === null ? null : !decisive;
    };
  }
  if (operator === '=~') return matches(left, String(right([])));
  const apply = OPERATORS.get(operator);
  if (apply === undefined) throw new QueryFailure(`Unknown operator ${operator}`);
  return (row) => apply(left(row), right(row));
}

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['XOR', (left, right) => {
    const [first, second] = [truth(left), truth(right)];
    return first === null || second === null ? null : first !== second;
  }],
  ['IN', contains],
  ['STARTS WITH', betweenTexts((left, right) => left.startsWith(right))],
  ['ENDS WITH', betweenTexts((left, right) => left.endsWith(right))],
  ['CONTAINS', betweenTexts((left, right) => left.includes(right))],
  ['+', plus],
  ['||', plus],
  ['-', arithmetic((left, right) => left - right, (left, right) => left - right)],
  ['*', arithmetic((left, right) => left * right, (left, right) => left * right)],
  ['/', arithmetic((left, right) => left / nonZero(right), (left, right) => left / right)],
  ['%', arithmetic((left, right) => left % nonZero(right), (left, right) => left % right)],
  ['^', arithmetic(null, (left, right) => left ** right)],
]); // biome-ignore format: one a line

function betweenTexts(run: (left: string, right: string) => boolean): Operator {
  return (left, right) => (typeof left === 'string' && typeof right === 'string' ? run(left, right) : null);
}

function arithmetic(
  integers: ((left: bigint, right: bigint) => bigint) | null,
  floats: (left: number, right: number) => number,
): Operator {
  return (left, right) => {
    if (left === null || right === null) return null;
    for (const value of [left, right]) if (!isNumber(value)) throw typeMismatch('Float or Integer', value);
    if (integers && typeof left === 'bigint' && typeof right === 'bigint') return integer(integers(left, right));
    return floats(Number(left), Number(right));
  };
}

function nonZero(value: bigint): bigint {
  if (value === 0n) throw new QueryFailure('/ by zero');
  return value;
}

const add = arithmetic((left, right) => left + right, (left, right) => left + right); // biome-ignore format: one line

function plus(left: Value, right: Value): Value {
  if (isList(left) && isList(right)) return joined(left, right);
  if (left === null || right === null) return null;
  if (isList(left)) return joined(left, [right]);
  if (isList(right)) return joined([left], right);
  if (typeof left !== 'string' && typeof right !== 'string') return add(left, right);
  const [first, second] = [toText(left), toText(right)];
  if (first === null || second === null) throw typeMismatch('String', first === null ? left : right);
  if (first.length + second.length > MAX_JOINED) throw new QueryFailure('The text is too long');
  return first + second;
}

/** Entries of a list or letters of a text that a query makes: adding a value to itself doubles it. */
const MAX_JOINED = 1_000_000;

function joined(left: readonly Value[], right: readonly Value[]): readonly Value[] {
  if (left.length + right.length > MAX_JOINED) throw new QueryFailure('The list is too long');
  return left.concat(right);
}

function contains(value: Value, list: Value): boolean | null {
  if (list === null) return null;
  let result: boolean | null = false;
  for (const entry of asList(list)) {
    const found = equals(value, entry);
    if (found === true) return true;
    if (found === null) result = null;
  }
  return result;
}

function matches(value: Evaluator, pattern: string): Evaluator {
  const [, flags = '', body = ''] = /^(?:\(\?([ismu]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  const expression = regularExpression(body, flags);
  return (row) => {
    const found = value(row);
    return typeof found === 'string' ? expression.test(found) : null;
  };
}

/** Java's expressions that the guard lets through, in JavaScript: of the whole text. */
function regularExpression(body: string, flags: string): RegExp {
  for (const unicode of ['u', '']) {
    try {
      return new RegExp(`^(?:${body})$`, [...new Set(flags.replace('u', ''))].join('') + unicode);
    } catch {
      // Escapes that only one of the modes has.
    }
  }
  throw new QueryFailure('Invalid regular expression');
}

export function comparison(first: Value, rest: readonly (readonly [string, Evaluator])[], row: Row): boolean | null {
  let left = first;
  let result: boolean | null = true;
  for (const [sign, next] of rest) {
    const right = next(row);
    const found = compareBy(sign, left, right);
    if (found === false) return false;
    if (found === null) result = null;
    left = right;
  }
  return result;
}

function compareBy(sign: string, left: Value, right: Value): boolean | null {
  if (sign === '=' || sign === '<>') {
    const found = equals(left, right);
    return found === null ? null : found === (sign === '=');
  }
  const found = compare(left, right);
  if (found === null) return null;
  switch (sign) {
    case '<':
      return found < 0;
    case '>':
      return found > 0;
    case '<=':
      return found <= 0;
    default:
      return found >= 0;
  }
}
