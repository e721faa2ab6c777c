import type { Json } from '../../common/kernel/json.ts';
import { parseJson } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import { scimError } from './scim-error.ts';

/** A filter of RFC 7644 §3.4.2.2. */
export type ScimFilter =
  | { readonly kind: 'and' | 'or'; readonly left: ScimFilter; readonly right: ScimFilter }
  | { readonly kind: 'not'; readonly of: ScimFilter }
  | { readonly kind: 'present'; readonly path: string }
  | { readonly kind: 'compare'; readonly path: string; readonly operator: ScimOperator; readonly value: ScimValue }
  /** One value of a multi-valued attribute matches the whole filter: `emails[type eq "work" and value co "x"]`. */
  | { readonly kind: 'some'; readonly path: string; readonly of: ScimFilter };

type ScimValue = string | number | boolean | null;
const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
type ScimOperator = (typeof OPERATORS)[number];

const MAX_LENGTH = 4_000;
const MAX_DEPTH = 32;
/** Comparisons in a filter; each is made for everybody in the directory. */
const MAX_COMPARISONS = 50;
/** Blanks, brackets, a JSON string, or a word: path, operator, number or literal. */
const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

/** Parses a filter. 400 `invalidFilter` for an invalid one. */
export function parseFilter(text: string): ScimFilter {
  const reader = createReader(tokensOf(text));
  const filter = readOr(reader, 0);
  if (reader.peek() !== null) throw invalid(`'${reader.peek()}' is one too many`);
  if (comparisonsIn(filter) > MAX_COMPARISONS) throw invalid(`it compares more than ${MAX_COMPARISONS} times`);
  return filter;
}

/** Comparisons with one resource or value at most. */
export function comparisonsIn(filter: ScimFilter): number {
  if ('left' in filter) return comparisonsIn(filter.left) + comparisonsIn(filter.right);
  return 'of' in filter ? comparisonsIn(filter.of) : 1;
}

type Reader = ReturnType<typeof createReader>;

function createReader(tokens: readonly string[]) {
  let at = 0;
  const peek = () => tokens[at] ?? null;
  return {
    peek,
    next() {
      const token = peek();
      if (token === null) throw invalid('it ends too early');
      at += 1;
      return token;
    },
    /** Consumes the token if it is this word, in any case. */
    takes(word: string) {
      if (peek()?.toLowerCase() !== word) return false;
      at += 1;
      return true;
    },
  };
}

function tokensOf(text: string): readonly string[] {
  if (text.length > MAX_LENGTH) throw invalid(`it has more than ${MAX_LENGTH} characters`);
  const tokens: string[] = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (match === null) throw invalid('a quotation mark is missing');
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  return tokens;
}

function readOr(reader: Reader, depth: number): ScimFilter {
  let left = readAnd(reader, depth);
  while (reader.takes('or')) left = { kind: 'or', left, right: readAnd(reader, depth) };
  return left;
}

function readAnd(reader: Reader, depth: number): ScimFilter {
  let left = readTerm(reader, depth);
  while (reader.takes('and')) left = { kind: 'and', left, right: readTerm(reader, depth) };
  return left;
}

function readTerm(reader: Reader, depth: number): ScimFilter {
  if (depth > MAX_DEPTH) throw invalid('it is nested too deeply');
  const isNegated = reader.takes('not');
  if (reader.takes('(')) {
    const of = readOr(reader, depth + 1);
    if (!reader.takes(')')) throw invalid("')' is missing");
    return isNegated ? { kind: 'not', of } : of;
  }
  if (isNegated) throw invalid("'(' is missing behind 'not'");
  const path = reader.next();
  if (!/^[\w$:.-]+$/.test(path)) throw invalid(`'${path}' is no attribute`);
  if (reader.takes('[')) {
    const of = readOr(reader, depth + 1);
    if (!reader.takes(']')) throw invalid("']' is missing");
    return { kind: 'some', path, of };
  }
  const operator = reader.next().toLowerCase();
  if (operator === 'pr') return { kind: 'present', path };
  if (!isOperator(operator)) throw invalid(`'${operator}' is no operator`);
  return { kind: 'compare', path, operator, value: literalOf(reader.next()) };
}

function isOperator(word: string): word is ScimOperator {
  return (OPERATORS as readonly string[]).includes(word);
}

function literalOf(token: string): ScimValue {
  // Some clients write True and False.
  const text = /^(true|false|null)$/i.test(token) ? token.toLowerCase() : token;
  const value = parseJson(text);
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value as ScimValue;
  throw invalid(`'${token}' is no value`);
}

function invalid(reason: string) {
  return scimError(400, `The filter cannot be read: ${reason}.`, 'invalidFilter');
}

/** Compared exactly; all other strings without regard to case (RFC 7643 §4.1). */
const CASE_EXACT = new Set(['id', 'externalid']);

/** Whether a resource, or one value of an attribute, matches. A missing attribute matches nothing. */
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

/** The simple values at a path; the value of a complex one is its `value`. */
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

/** Splits a path: `urn:…:User:name.givenName` → the id of the extension, then the steps. Ids of schemas contain dots. */
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
  // Entra sends "True".
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
