/**
 * Compares a value with a matcher and names every difference by its path.
 * Plain values match themselves; objects match key by key and allow no further key unless they hold `"$partial": true`.
 * Words: `$any $string $nonempty $number $integer $boolean $uuid $datetime $array $object`.
 * Objects with one key: `{"$match": regex}`, `{"$oneOf": [matchers]}`, `{"$each": matcher}`, `{"$contains": [matchers]}`,
 * `{"$length": n}`, `{"$optional": matcher}` (the key may be missing), `{"$atLeast": n}`, `{"$atMost": n}`.
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

function matchOperator(actual: unknown, operator: string, operand: unknown, path: string): string[] {
  switch (operator) {
    case '$match':
      return typeof actual === 'string' && new RegExp(String(operand), 's').test(actual)
        ? []
        : [`${path}: expected a match of /${String(operand)}/, got ${show(actual)}`];
    case '$oneOf':
      return (operand as readonly unknown[]).some((entry) => differences(actual, entry, path).length === 0)
        ? []
        : [`${path}: none of ${show(operand)} matches ${show(actual)}`];
    case '$each':
      if (!Array.isArray(actual)) return [`${path}: expected a list, got ${show(actual)}`];
      return actual.flatMap((entry, index) => differences(entry, operand, `${path}[${index}]`));
    case '$contains':
      if (!Array.isArray(actual)) return [`${path}: expected a list, got ${show(actual)}`];
      return (operand as readonly unknown[])
        .filter((entry) => !actual.some((value) => differences(value, entry, path).length === 0))
        .map((entry) => `${path}: nothing matches ${show(entry)} in ${show(actual)}`);
    case '$length': {
      const length = Array.isArray(actual) || typeof actual === 'string' ? actual.length : -1;
      return length === operand ? [] : [`${path}: expected length ${show(operand)}, got ${length}`];
    }
    case '$optional':
      return actual === undefined ? [] : differences(actual, operand, path);
    case '$atLeast':
      return typeof actual === 'number' && actual >= Number(operand)
        ? []
        : [`${path}: expected at least ${show(operand)}, got ${show(actual)}`];
    case '$atMost':
      return typeof actual === 'number' && actual <= Number(operand)
        ? []
        : [`${path}: expected at most ${show(operand)}, got ${show(actual)}`];
    default:
      return [`${path}: unknown matcher ${operator}`];
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
