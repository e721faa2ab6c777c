/**
 * Compares a value with a matcher and names every difference by its path.
 * Plain values match themselves; objects match key by key and allow no further key unless they hold `"$partial": true`.
 * Words: `$any $absent $string $nonempty $number $integer $boolean $uuid $datetime $array $object`.
 * Objects with one key: `{"$match": regex}`, `{"$oneOf": [matchers]}`, `{"$all": [matchers]}`, `{"$not": matcher}`,
 * `{"$each": matcher}`, `{"$contains": [matchers]}`, `{"$none": matcher}`, `{"$length": n}`, `{"$minLength": n}`,
 * `{"$optional": matcher}` (the key may be missing), `{"$atLeast": n}`, `{"$atMost": n}`, `{"$values": matcher}` (of every
 * value of an object).
 */
export function differences(actual: unknown, matcher: unknown, path = '$'): string[] {
  if (typeof matcher === 'string' && matcher.startsWith('$')) return matchWord(actual, matcher, path);
  if (Array.isArray(matcher)) return matchList(actual, matcher, path);
  if (isObject(matcher)) {
    const operator = Object.keys(matcher).find((key) => key.startsWith('$') && key !== '$partial');
    return operator === undefined
      ? matchObject(actual, matcher, path)
      : matchOperator(actual, operator, matcher[operator], path);
  }
  return Object.is(actual, matcher) ? [] : [`${path}: expected ${show(matcher)}, got ${show(actual)}`];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

const WORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $any: (value) => value !== undefined,
  $absent: (value) => value === undefined,
  $string: (value) => typeof value === 'string',
  $nonempty: (value) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0,
  $number: (value) => typeof value === 'number',
  $integer: (value) => Number.isInteger(value),
  $boolean: (value) => typeof value === 'boolean',
  $uuid: (value) => typeof value === 'string' && UUID.test(value),
  $datetime: (value) => typeof value === 'string' && DATETIME.test(value),
  $array: (value) => Array.isArray(value),
  $object: isObject,
};

function matchWord(actual: unknown, word: string, path: string): string[] {
  const test = WORDS[word];
  if (test === undefined) return [`${path}: unknown matcher ${word}`];
  return test(actual) ? [] : [`${path}: expected ${word}, got ${show(actual)}`];
}

function matchList(actual: unknown, matcher: readonly unknown[], path: string): string[] {
  if (!Array.isArray(actual)) return [`${path}: expected a list, got ${show(actual)}`];
  if (actual.length !== matcher.length)
    return [`${path}: expected ${matcher.length} entries, got ${actual.length}: ${show(actual)}`];
  return matcher.flatMap((entry, index) => differences(actual[index], entry, `${path}[${index}]`));
}

function matchObject(actual: unknown, matcher: Record<string, unknown>, path: string): string[] {
  if (!isObject(actual)) return [`${path}: expected an object, got ${show(actual)}`];
  const { $partial: partial, ...keys } = matcher;
  const found = Object.entries(keys).flatMap(([key, entry]) => differences(actual[key], entry, `${path}.${key}`));
  if (partial === true) return found;
  const extra = Object.keys(actual).filter((key) => !(key in keys));
  return extra.length === 0 ? found : [...found, `${path}: unexpected keys ${extra.join(', ')}`];
}

type Operator = (actual: unknown, operand: unknown, path: string) => string[];

const OPERATORS: Readonly<Record<string, Operator>> = {
  $match: (actual, operand, path) =>
    verdict(
      typeof actual === 'string' && new RegExp(String(operand), 's').test(actual),
      path,
      actual,
      `a match of /${String(operand)}/`,
    ),
  $oneOf: (actual, operand, path) =>
    verdict(
      list(operand).some((entry) => differences(actual, entry, path).length === 0),
      path,
      actual,
      `one of ${show(operand)}`,
    ),
  $all: (actual, operand, path) => list(operand).flatMap((entry) => differences(actual, entry, path)),
  $not: (actual, operand, path) =>
    verdict(differences(actual, operand, path).length > 0, path, actual, `no match of ${show(operand)}`),
  $each: (actual, operand, path) =>
    ofList(actual, path, (entries) =>
      entries.flatMap((entry, index) => differences(entry, operand, `${path}[${index}]`)),
    ),
  $values: (actual, operand, path) =>
    isObject(actual)
      ? Object.entries(actual).flatMap(([key, entry]) => differences(entry, operand, `${path}.${key}`))
      : [`${path}: expected an object, got ${show(actual)}`],
  $contains: (actual, operand, path) =>
    ofList(actual, path, (entries) =>
      list(operand)
        .filter((wanted) => !entries.some((entry) => differences(entry, wanted, path).length === 0))
        .map((wanted) => `${path}: nothing matches ${show(wanted)} in ${show(actual)}`),
    ),
  $none: (actual, operand, path) =>
    ofList(actual, path, (entries) =>
      entries
        .filter((entry) => differences(entry, operand, path).length === 0)
        .map((entry) => `${path}: ${show(entry)} matches ${show(operand)}`),
    ),
  $length: (actual, operand, path) => verdict(lengthOf(actual) === operand, path, actual, `length ${show(operand)}`),
  $minLength: (actual, operand, path) =>
    verdict(lengthOf(actual) >= Number(operand), path, actual, `length of at least ${show(operand)}`),
  $optional: (actual, operand, path) => (actual === undefined ? [] : differences(actual, operand, path)),
  $atLeast: (actual, operand, path) =>
    verdict(typeof actual === 'number' && actual >= Number(operand), path, actual, `at least ${show(operand)}`),
  $atMost: (actual, operand, path) =>
    verdict(typeof actual === 'number' && actual <= Number(operand), path, actual, `at most ${show(operand)}`),
};

function matchOperator(actual: unknown, operator: string, operand: unknown, path: string): string[] {
  const match = OPERATORS[operator];
  return match === undefined ? [`${path}: unknown matcher ${operator}`] : match(actual, operand, path);
}

function verdict(holds: boolean, path: string, actual: unknown, wanted: string): string[] {
  return holds ? [] : [`${path}: expected ${wanted}, got ${show(actual)}`];
}

function ofList(actual: unknown, path: string, compare: (entries: readonly unknown[]) => string[]): string[] {
  return Array.isArray(actual) ? compare(actual) : [`${path}: expected a list, got ${show(actual)}`];
}

function list(operand: unknown): readonly unknown[] {
  return Array.isArray(operand) ? operand : [operand];
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) || typeof value === 'string' ? value.length : -1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
