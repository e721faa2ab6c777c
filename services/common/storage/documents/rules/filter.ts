import type { JsonObject } from '../../../kernel/json.ts';
import type { Condition, Filter, Scalar } from '../../ports/document-store.ts';
import { compareIndexValues, type IndexValue, indexValue } from './ordering.ts';

/** A filter with its shorthand written out: every entry is a field and its condition. */
export function conditionsOf(filter: Filter<JsonObject>): readonly (readonly [string, Condition])[] {
  const conditions: [string, Condition][] = [];
  for (const [field, value] of Object.entries(filter as Readonly<Record<string, Scalar | Condition | undefined>>)) {
    // An undefined value must never widen a query: { owner: undefined } is a fault, not "any owner".
    if (value === undefined) throw new Error(`filter on ${field} is undefined`);
    conditions.push([field, value !== null && typeof value === 'object' ? checked(field, value) : { equals: value }]);
  }
  return conditions;
}

const OPERATORS: ReadonlySet<string> = new Set([
  'equals',
  'in',
  'notEquals',
  'greaterThan',
  'atLeast',
  'lessThan',
  'atMost',
  'prefix',
  'exists',
] satisfies readonly (keyof Condition)[]);

function checked(field: string, condition: Condition): Condition {
  for (const [operator, operand] of Object.entries(condition)) {
    if (!OPERATORS.has(operator)) throw new Error(`filter on ${field}: unknown condition ${operator}`);
    if (operand === undefined) throw new Error(`filter on ${field}: ${operator} is undefined`);
  }
  return condition;
}

/** `read` gives the value of a field (`id` and `sequence` included) of the document in question. */
export function matches(
  conditions: readonly (readonly [string, Condition])[],
  read: (field: string) => IndexValue,
): boolean {
  return conditions.every(([field, condition]) => holds(condition, read(field)));
}

function holds(condition: Condition, value: IndexValue): boolean {
  if (condition.equals !== undefined && !same(value, condition.equals)) return false;
  if (condition.in !== undefined && !condition.in.some((candidate) => same(value, candidate))) return false;
  if (condition.notEquals !== undefined && same(value, condition.notEquals)) return false;
  if (condition.exists !== undefined && condition.exists === (value === null)) return false;
  if (condition.prefix !== undefined) {
    if (typeof value !== 'string' || !value.startsWith(condition.prefix.toWellFormed())) return false;
  }
  return inRange(condition, value);
}

function inRange(condition: Condition, value: IndexValue): boolean {
  const { greaterThan, atLeast, lessThan, atMost } = condition;
  if (greaterThan !== undefined && !(comparable(value, greaterThan) && order(value, greaterThan) > 0)) return false;
  if (atLeast !== undefined && !(comparable(value, atLeast) && order(value, atLeast) >= 0)) return false;
  if (lessThan !== undefined && !(comparable(value, lessThan) && order(value, lessThan) < 0)) return false;
  return atMost === undefined || (comparable(value, atMost) && order(value, atMost) <= 0);
}

function same(value: IndexValue, expected: Scalar): boolean {
  return value === indexValue(expected);
}

/** A range holds values of its bound's type only. */
function comparable(value: IndexValue, bound: string | number): boolean {
  return typeof value === typeof bound;
}

function order(value: IndexValue, bound: string | number): number {
  return compareIndexValues(value, indexValue(bound));
}
