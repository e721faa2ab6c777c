/** Adds values to a list. `push(...values)` ends in "Maximum call stack size exceeded" from about a hundred thousand on. */
export function append<Value>(list: Value[], values: Iterable<Value>): void {
  for (const value of values) list.push(value);
}

/** The smallest number, `Infinity` of none. `Math.min(...numbers)` fails on long lists as `push(...)` does. */
export function smallest(numbers: Iterable<number>): number {
  let found = Number.POSITIVE_INFINITY;
  for (const number of numbers) if (number < found) found = number;
  return found;
}
