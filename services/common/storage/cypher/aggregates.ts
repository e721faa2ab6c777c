import type { Budget } from './budget.ts';
import { integer } from './functions.ts';
import type { Expression } from './syntax.ts';
import { compareForSort, isNumber, keyOf, QueryFailure, typeMismatch, type Value, weightOf } from './values.ts';

/** Makes one value of the values of a group. */
export interface Accumulator {
  add(args: readonly Value[]): void;
  result(): Value;
}

type Call = Extract<Expression, { kind: 'call' }>;

/** A new accumulator for each group. Nulls are not counted, except by `count(*)`. */
export function accumulatorOf({ name, isDistinct, args }: Call, budget: Budget): Accumulator {
  if (args === null) return counter();
  const expected = name.startsWith('percentile') ? 2 : 1;
  if (args.length !== expected) throw new QueryFailure(`${name}() takes ${expected} parameters`);
  const inner = name === 'count' ? counter() : name === 'sum' ? total() : collector(name, budget);
  const seen = new Set<string>();
  return {
    result: inner.result,
    add(values) {
      const [value = null] = values;
      if (value === null) return;
      if (isDistinct) {
        const key = keyOf(value);
        if (seen.has(key)) return;
        budget.hold(50 + key.length);
        seen.add(key);
      }
      inner.add(values);
    },
  };
}

function counter(): Accumulator {
  let count = 0n;
  return {
    add() {
      count += 1n;
    },
    result: () => count,
  };
}

function total(): Accumulator {
  let sum: bigint | number = 0n;
  return {
    add([value = null]) {
      if (!isNumber(value)) throw typeMismatch('Float or Integer', value);
      sum = typeof sum === 'bigint' && typeof value === 'bigint' ? integer(sum + value) : Number(sum) + Number(value);
    },
    result: () => sum,
  };
}

function collector(name: string, budget: Budget): Accumulator {
  const values: Value[] = [];
  let percentile = 0;
  return {
    add([value = null, share]) {
      if (name === 'min' || name === 'max') {
        const best = values[0];
        if (best === undefined || compareForSort(value, best) < 0 === (name === 'min')) values[0] = value;
        return;
      }
      if (name !== 'collect' && !isNumber(value)) throw typeMismatch('Float or Integer', value);
      if (share !== undefined) percentile = shareOf(share);
      budget.hold(weightOf(value));
      values.push(value);
    },
    result: () => {
      if (name === 'collect') return values;
      if (name === 'min' || name === 'max') return values[0] ?? null;
      return ofNumbers(name, values as readonly (number | bigint)[], percentile);
    },
  };
}

function shareOf(value: Value): number {
  if (!isNumber(value)) throw typeMismatch('Float', value);
  if (!(value >= 0 && value <= 1))
    throw new QueryFailure(
      `Invalid input '${value}' is not a valid argument, must be a number in the range 0.0 to 1.0`,
    );
  return Number(value);
}

function ofNumbers(name: string, values: readonly (number | bigint)[], percentile: number): Value {
  const numbers = values.map(Number);
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  const spread = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (name === 'stdev') return numbers.length < 2 ? 0 : Math.sqrt(spread / (numbers.length - 1));
  if (name === 'stdevp') return numbers.length === 0 ? 0 : Math.sqrt(spread / numbers.length);
  if (numbers.length === 0) return null;
  if (name === 'avg') return mean;
  const sorted = values.toSorted(compareForSort);
  if (name === 'percentiledisc') return sorted[Math.max(0, Math.ceil(percentile * sorted.length) - 1)] ?? null;
  const at = percentile * (sorted.length - 1);
  const [low, high] = [Number(sorted[Math.floor(at)]), Number(sorted[Math.ceil(at)])];
  return low + (high - low) * (at - Math.floor(at));
}
