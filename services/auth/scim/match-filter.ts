import type { Json } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { ScimFilter, ScimOperator, ScimValue } from './filter.ts';

/** Compared letter by letter; all other texts without regard to case (RFC 7643 §4.1). */
const CASE_EXACT = new Set(['id', 'externalid']);

/** Whether a resource, or one value of an attribute, fits. An attribute that it does not have fits nothing. */
export function matchesFilter(filter: ScimFilter, resource: unknown): boolean {
  switch (filter.kind) {
    case 'and':
      return matchesFilter(filter.left, resource) && matchesFilter(filter.right, resource);
    case 'or':
      return matchesFilter(filter.left, resource) || matchesFilter(filter.right, resource);
    case 'not':
      return !matchesFilter(filter.of, resource);
    case 'some':
      return elementsAt(resource, filter.path).some((element) => matchesFilter(filter.of, element));
    case 'present':
      return valuesAt(resource, filter.path).some((value) => value !== null && value !== '');
    case 'compare': {
      const isExact = CASE_EXACT.has(filter.path.toLowerCase());
      const values = valuesAt(resource, filter.path);
      if (filter.operator === 'ne') return !values.some((value) => compares('eq', value, filter.value, isExact));
      return values.some((value) => compares(filter.operator, value, filter.value, isExact));
    }
  }
}

/** The plain values at a path; a complex value stands for its `value`. */
export function valuesAt(resource: unknown, path: string): readonly Json[] {
  return elementsAt(resource, path).flatMap((element) => {
    if (isRecord(element)) return 'value' in element ? [element['value'] as Json] : [];
    return [element];
  });
}

function elementsAt(resource: unknown, path: string): readonly Json[] {
  let found: readonly unknown[] = [resource];
  for (const step of stepsOf(path)) {
    found = found.flatMap((value) => {
      if (!isRecord(value)) return [];
      const [, inner] = Object.entries(value).find(([name]) => name.toLowerCase() === step) ?? [];
      if (inner === undefined || inner === null) return [];
      return Array.isArray(inner) ? (inner as unknown[]) : [inner];
    });
  }
  return found as readonly Json[];
}

const CORE_SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/;

/** `urn:…:User:name.givenName` → the id of the extension, then the steps; ids of schemas have dots themselves. */
function stepsOf(path: string): readonly string[] {
  const lower = path.toLowerCase().replace(CORE_SCHEMA, '');
  const colon = lower.startsWith('urn:') ? lower.lastIndexOf(':') : -1;
  const steps = lower.slice(colon + 1).split('.');
  return colon < 0 ? steps : [lower.slice(0, colon), ...steps];
}

function compares(operator: ScimOperator, value: Json, wanted: ScimValue, isExact: boolean): boolean {
  if (typeof value === 'string' && typeof wanted === 'string') {
    const [one, other] = isExact ? [value, wanted] : [value.toLowerCase(), wanted.toLowerCase()];
    return TEXT_OPERATORS[operator](one, other);
  }
  // Entra asks for "True".
  if (typeof value === 'boolean' && typeof wanted === 'string') return String(value) === wanted.toLowerCase();
  if (typeof value === 'number' && typeof wanted === 'number')
    return NUMBER_OPERATORS[operator]?.(value, wanted) ?? false;
  return operator === 'eq' && value === wanted;
}

type Compare<Value> = (one: Value, other: Value) => boolean;
const TEXT_OPERATORS: Readonly<Record<ScimOperator, Compare<string>>> = {
  eq: (one, other) => one === other,
  ne: (one, other) => one !== other,
  co: (one, other) => one.includes(other),
  sw: (one, other) => one.startsWith(other),
  ew: (one, other) => one.endsWith(other),
  gt: (one, other) => one > other,
  ge: (one, other) => one >= other,
  lt: (one, other) => one < other,
  le: (one, other) => one <= other,
};
const NUMBER_OPERATORS: Readonly<Partial<Record<ScimOperator, Compare<number>>>> = {
  eq: (one, other) => one === other,
  gt: (one, other) => one > other,
  ge: (one, other) => one >= other,
  lt: (one, other) => one < other,
  le: (one, other) => one <= other,
};
